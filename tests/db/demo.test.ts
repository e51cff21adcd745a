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
    const { rows: about } = await fixtures.sql.query(`
      select count(distinct end_user)::int as people, count(distinct session) > 50 as sessions,
        array_agg(distinct tags[1]) filter (where tags is not null) as tags, array_agg(distinct emitter) filter (where emitter is not null) as emitters
      from public.messages`);
    expect(about).toEqual([
      {
        people: 7,
        sessions: true,
        tags: ["team:customer-care", "team:growth", "team:platform"],
        emitters: ["ai-sdk", "claude-code"],
      },
    ]);
    const { rows: sources } = await fixtures.sql.query(`
      select k.name, a.emitter, a.recorded_count = (select count(*) from public.messages as m
          where m.api_key_id = k.id and m.created_at >= '2026-11-14T15:00Z') as counted
      from public.source_arrivals as a join public.api_keys as k on k.id = a.api_key_id order by k.name`);
    expect(sources).toEqual([
      { name: "Claude Code", emitter: "claude-code", counted: true },
      { name: "Support app", emitter: "ai-sdk", counted: true },
    ]);
    const { rows: keys } = await fixtures.sql.query(`
      select k.name, k.last_used_at = max(m.created_at) as is_last_use
      from public.api_keys as k join public.messages as m on m.api_key_id = k.id
      group by k.id, k.name, k.last_used_at order by k.name`);
    expect(keys).toEqual([
      { name: "Claude Code", is_last_use: true },
      { name: "Demo key", is_last_use: true },
      { name: "Support app", is_last_use: true },
    ]);
    const { rows: budgets } = await fixtures.sql.query(
      "select name, amount > 1 as set, blocks from public.budgets order by name",
    );
    expect(budgets).toEqual([
      { name: "Code review", set: true, blocks: false },
      { name: "Everything", set: true, blocks: false },
      { name: "Research", set: true, blocks: true },
      { name: "Search", set: true, blocks: false },
    ]);
    const { rows: channels } = await fixtures.sql.query("select kind, target from public.alert_channels");
    expect(channels).toEqual([{ kind: "email", target: "demo@outlay.local" }]);
  } finally {
    await fixtures.close();
    await database.drop();
  }
});
