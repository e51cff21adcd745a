import { expect, test } from "vitest";
import { generateSecret } from "@/lib/access/secrets/secret";
import { seedDemo } from "@/lib/ledger/demo/seed";
import { createTestDatabase } from "@/tests/helpers/database";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { Fixtures } from "@/tests/helpers/keys";

test("Creates the demo once, with right sums and something in every view", async () => {
  const database = await createTestDatabase();
  const fixtures = new Fixtures(database.adminUrl);
  try {
    const now = Date.UTC(2026, 10, 21, 15);
    const access = { email: "demo@outlay.local", password: "correct horse battery", key: generateSecret() };
    expect(await seedDemo(database.adminUrl, access, now)).toBe(true);
    expect(await seedDemo(database.adminUrl, access, now)).toBe(false);
    expect(await ledgerDifferences(fixtures)).toEqual([]);
    const { rows } = await fixtures.sql.query(`
      select count(distinct project_id)::int as projects, count(distinct date_trunc('month', occurred_at))::int as months,
        array_agg(distinct model) filter (where cost_status = 'unpriced') as unpriced,
        array_agg(distinct currency) filter (where cost_status = 'converted') as currencies
      from public.messages`);
    expect(rows).toEqual([{ projects: 6, months: 4, unpriced: ["ranker-7b"], currencies: ["EUR", "JPY"] }]);
    const { rows: budgets } = await fixtures.sql.query(
      "select name, amount > 0 as set from public.budgets order by name",
    );
    expect(budgets).toHaveLength(3);
  } finally {
    await fixtures.close();
    await database.drop();
  }
});
