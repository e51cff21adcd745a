import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { bigint, text } from "@/lib/db/columns";
import { database } from "@/lib/db/pool";
import { selectAll } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";
import { asKeyAtOnce, asKeysAtOnce, type KeyClaims } from "@/lib/db/transaction";
import { readMonthSummary } from "@/lib/spend/summaries/service";
import { selectMonthTotals } from "@/lib/spend/summaries/summary-queries";
import { connectService } from "@/tests/helpers/connect-service";
import { type OpenDatabase, withDatabase } from "@/tests/helpers/with-database";

// A month's summary is read in one round trip by a function of the database. Row-level security applies to it as to every
// read: the function has the rights of the key.

let open: OpenDatabase;
withDatabase((opened) => {
  open = opened;
});
connectService(() => open.database);

let own: string;
let other: string;

/** Adds $1 to a project's spend of today. */
async function spend(workspace: string, slug: string, environment: "live" | "test"): Promise<void> {
  const project = await open.fixtures.project(workspace, slug);
  await open.fixtures.sql.query(
    `select private.add_daily_spend(array[row(
       $1::uuid, (now() at time zone 'UTC')::date, $2::uuid, null, 'usage', 'openai', 'gpt-4o', null, 'api', $3, 1, 1, 1, 0, null, null, 0
     )::public.daily_spend])`,
    [workspace, project, environment],
  );
}

beforeAll(async () => {
  own = await open.fixtures.workspace();
  other = await open.fixtures.workspace();
  await spend(own, "checkout", "live");
  await spend(own, "search", "live");
  await spend(own, "mail", "test");
  await spend(other, "checkout", "live");
});

const claims = (changes: Partial<KeyClaims> = {}): KeyClaims => ({
  id: own,
  workspace_id: own,
  environment: "live",
  allow: null,
  deny: [],
  ...changes,
});

const projectsOf = async (key: KeyClaims) => Object.keys((await readMonthSummary(key)).by_project).sort();

test("Shows a key the projects in its scope only", async () => {
  expect(await projectsOf(claims())).toEqual(["checkout", "search"]);
  expect(await projectsOf(claims({ environment: "test" }))).toEqual(["mail"]);
  expect(await projectsOf(claims({ allow: ["search"] }))).toEqual(["search"]);
  expect(await projectsOf(claims({ deny: ["search"] }))).toEqual(["checkout"]);
  expect(await projectsOf(claims({ allow: [] }))).toEqual([]);
});

test("Shows each of several keys that are read together what it sees alone", async () => {
  const keys = [
    claims(),
    claims({ id: other, workspace_id: other }),
    claims({ environment: "test" }),
    claims({ allow: ["search"] }),
    claims({ deny: ["search"] }),
    claims({ allow: [] }),
    claims({ id: randomUUID(), workspace_id: randomUUID() }),
    claims(),
  ];
  const totals = await asKeysAtOnce(keys, selectMonthTotals);
  const slugs = totals.map((rows) => rows.map(([slug]) => slug).sort());
  expect(slugs).toEqual([
    ["checkout", "search"],
    ["checkout"],
    ["mail"],
    ["search"],
    ["checkout"],
    [],
    [],
    ["checkout", "search"],
  ]);
  expect(await Promise.all([...keys, ...keys].map(projectsOf))).toEqual([...slugs, ...slugs]);
});

test("Answers each of several keys that are read together, though one cannot be read", async () => {
  const broken = claims({ id: "broken", workspace_id: "no id" });
  const answers = await Promise.allSettled([claims(), broken, claims({ allow: ["search"] })].map(projectsOf));
  expect(answers).toEqual([
    { status: "fulfilled", value: ["checkout", "search"] },
    { status: "rejected", reason: expect.objectContaining({ code: "22P02" }) },
    { status: "fulfilled", value: ["search"] },
  ]);
});

test("Shows nothing where a statement for several keys sets no claims", async () => {
  const seen = await asKeysAtOnce([], (client) =>
    selectAll(
      client,
      { seen: bigint() },
      sql`select (select count(*) from public.daily_totals) + (select count(*) from public.projects) as seen`,
    ),
  );
  expect(seen).toEqual([{ seen: "0" }]);
});

test("Shows a key the names of the projects in its scope only", async () => {
  const named = async (key: KeyClaims) => {
    const rows = await asKeyAtOnce(key, (client) =>
      selectAll(client, { slug: text() }, sql`select slug from public.projects order by slug`),
    );
    return rows.map(({ slug }) => slug);
  };
  expect(await named(claims())).toEqual(["checkout", "mail", "search"]);
  expect(await named(claims({ allow: ["search"] }))).toEqual(["search"]);
  expect(await named(claims({ deny: ["search"] }))).toEqual(["checkout", "mail"]);
  expect(await named(claims({ allow: [] }))).toEqual([]);
});

test("Leaves no role or claims on the connection, after a read as after one that fails", async () => {
  const settings = { role: text(), claims: text() };
  const read = () =>
    asKeyAtOnce(claims(), (client) =>
      selectAll(
        client,
        settings,
        sql`select current_setting('role') as role, current_setting('request.api_key') as claims`,
      ),
    );
  expect(await read()).toEqual([{ role: "outlay_key", claims: JSON.stringify(claims()) }]);
  await projectsOf(claims());
  const failing = asKeyAtOnce(claims(), (client) => selectAll(client, { n: text() }, sql`select 1 / 0 as n`));
  await expect(failing).rejects.toMatchObject({ code: "22012" });
  const { rows } = await database("reading").query(
    "select current_setting('role') as role, coalesce(current_setting('request.api_key', true), '') as claims",
  );
  expect(rows).toEqual([{ role: "none", claims: "" }]);
});

test("Runs one statement, so that figures of two moments are never taken for one", async () => {
  const twice = asKeysAtOnce([], async (client) => {
    await selectMonthTotals(client, [claims()]);
    return selectMonthTotals(client, [claims()]);
  });
  await expect(twice).rejects.toThrow("one statement");
});

test("Takes a value for text, whatever it contains", async () => {
  const hostile = `'; commit; select '\\' "$1" -- x`;
  const rows = await asKeyAtOnce(claims(), (client) =>
    selectAll(client, { said: text() }, sql`select ${hostile} as said`),
  );
  expect(rows).toEqual([{ said: hostile }]);
});
