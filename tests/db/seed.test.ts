import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { splitSql } from "@/lib/db/split-sql";
import { createTestDatabase, type TestDatabase } from "@/tests/helpers/database";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { Fixtures } from "@/tests/helpers/keys";
import { projectRoot } from "@/tests/helpers/project-root";

let database: TestDatabase;
let fixtures: Fixtures;

beforeAll(async () => {
  database = await createTestDatabase();
  fixtures = new Fixtures(database.adminUrl);
  await seed();
});

afterAll(async () => {
  await fixtures?.close();
  await database?.drop();
});

async function seed(): Promise<void> {
  for (const { text } of splitSql(readFileSync(join(projectRoot, "supabase/seed.sql"), "utf8")))
    await fixtures.sql.query(text);
}

const content = async () =>
  (
    await fixtures.sql.query(
      `select
         (select json_agg(u.email) from auth.users as u) as users,
         (select json_agg(w.slug order by w.slug) from public.workspaces as w) as workspaces,
         (select count(*)::int from public.messages) as messages,
         (select sum(amount_usd)::text from public.daily_spend) as spend`,
    )
  ).rows[0];

test("Fills a workspace with a month of spend whose sums are those of its messages", async () => {
  expect(await content()).toEqual({
    users: ["ada@example.com"],
    workspaces: ["ada", "example"],
    messages: 124,
    spend: "311.0",
  });
  expect(await ledgerDifferences(fixtures)).toEqual([]);
});

test("Changes nothing when it is loaded again", async () => {
  const before = await content();
  await seed();
  expect(await content()).toEqual(before);
});

test("Grants no access: its user has no password, and its workspace no key", async () => {
  const { rows } = await fixtures.sql.query(
    "select local_auth.check_password(email, '') as signed_in, encrypted_password from auth.users",
  );
  expect(rows).toEqual([{ signed_in: null, encrypted_password: "" }]);
  expect((await fixtures.sql.query("select from public.api_keys")).rowCount).toBe(0);
});
