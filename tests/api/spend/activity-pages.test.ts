import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { bulk, makeActivityWorkspace, pages, rowsOf } from "@/tests/helpers/activity";
import { type apiClient, costMessage } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { actAs } from "@/tests/helpers/sql-user";
import { addUser } from "@/tests/helpers/team";

const harness = withSharedHarness();

test("Answers the longest possible range", async () => {
  const { slug, viewer } = await makeActivityWorkspace(harness);
  for (const route of ["activity", "metrics"]) {
    const path = `/api/v1/workspaces/${slug}/${route}?period=range&from=1900-01-01&to=2999-12-31`;
    expect((await viewer.get(path)).status, route).toBe(200);
  }
});

test.each([
  ["limit=0", "query.limit"],
  ["limit=101", "query.limit"],
  ["limit=2.5", "query.limit"],
  ["limit=many", "query.limit"],
  ["period=decade", "query.period"],
  ["period=range&from=2026-01-01", "query.to"],
  ["period=range&from=2026-02-01&to=2026-01-01", "query.to"],
  ["from=2026-01-01", "query.to"],
  ["period=range&from=1899-12-31&to=2026-01-01", "query.from"],
  ["period=range&from=0000-01-01&to=2026-01-01", "query.from"],
  ["period=range&from=2026-01-01&to=9999-12-31", "query.to"],
  ["period=week&limit=1&period=week", "query.period"],
  ["type=gift", "query.type"],
  ["environment=prod", "query.environment"],
  ["key=42", "query.key"],
  ["project=Not a slug", "query.project"],
  ["cursor=nonsense", "query.cursor"],
  [
    `cursor=${Buffer.from('{"at":"2026-01-01T00:00:00Z","id":1,"part":0}').toString("base64url")}`,
    "query.cursor",
  ],
  [
    `cursor=${Buffer.from(`{"at":"0000-01-01T00:00:00Z","id":"${randomUUID()}","part":0}`).toString("base64url")}`,
    "query.cursor",
  ],
  ["colour=red", "query.colour"],
])("Refuses ?%s, naming %s", async (query, path) => {
  const { slug, viewer } = await makeActivityWorkspace(harness);
  const { status, body } = await viewer.get(`/api/v1/workspaces/${slug}/activity?${query}`);
  expect([status, body.error]).toEqual([400, "validation_failed"]);
  expect((body.issues as { path: string }[]).map((issue) => issue.path)).toContain(path);
});

test("Lists every row once over all pages while others are recorded", async () => {
  const { key, activity } = await makeActivityWorkspace(harness);
  const at = (index: number) => `2026-11-0${1 + (index % 9)}T12:00:00.00${index % 3}Z`;
  const ids = await bulk(
    key,
    Array.from({ length: 60 }, (_, index) => costMessage({ occurred_at: at(index) })),
  );
  let index = 0;
  const between = () =>
    bulk(
      key,
      Array.from({ length: 3 }, () => costMessage({ occurred_at: at(index++) })),
    );
  const seen = (await pages(activity, "limit=7&period=all", between)).flat().map(({ id }) => String(id));
  expect(new Set(seen).size).toBe(seen.length);
  expect(ids.filter((id) => !seen.includes(id))).toEqual([]);
  const all = rowsOf(await activity("limit=100&period=all"));
  const order = all.map((row) => `${row.occurred_at} ${row.id}`);
  expect(order).toEqual([...order].sort().reverse());
});

test("Lists each row once when a search takes several steps", async () => {
  const { id, key, activity } = await makeActivityWorkspace(harness);
  const [first = ""] = await bulk(key, [
    costMessage({ label: "needle", occurred_at: "2026-10-01T00:00:00Z" }),
  ]);
  await harness.fixtures.sql.query(
    `with made as (
       insert into public.messages
         (workspace_id, id, occurred_at, created_at, project_id, type, source, environment, amount_usd, cost_status)
       select $1, gen_random_uuid(), timestamptz '2026-10-01T00:00:01Z' + n * interval '20 seconds', now(), project_id, 'usage',
         'api', 'live', 0, 'client'
       from generate_series(1, 120000) as n, (select project_id from public.messages where id = $2) as of
       returning (occurred_at at time zone 'UTC')::date as day, project_id
     )
     select private.add_daily_spend(array_agg(row(
       $1::uuid, day, project_id, null, 'usage', null, null, null, 'api', 'live', 0, messages, messages, 0, null, null, 0
     )::public.daily_spend))
     from (select day, project_id, count(*) as messages from made group by 1, 2) as days`,
    [id, first],
  );
  const [last = ""] = await bulk(key, [
    costMessage({ label: "needle", occurred_at: "2026-10-31T00:00:00Z" }),
  ]);
  const found = await pages(activity, "period=all&q=needle");
  expect(found.length).toBeGreaterThan(2);
  expect(found.flat().map((row) => row.id)).toEqual([last, first]);
});

test("Puts an instant into its day, week, month, quarter and year to the microsecond", async () => {
  const { key, activity, metrics } = await makeActivityWorkspace(harness);
  const { sql } = harness.fixtures;
  for (const unit of ["day", "week", "month", "quarter", "year"]) {
    const { rows } = await sql.query(
      `select to_char(first, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as first, to_char(first - interval '1 microsecond', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as before
       from (select date_trunc($1, now() at time zone 'UTC') as first) as of`,
      [unit],
    );
    const feature = `edge of ${unit}`;
    await bulk(key, [
      costMessage({ feature, estimated_cost: 1, occurred_at: rows[0].first }),
      costMessage({ feature, estimated_cost: 2, occurred_at: rows[0].before }),
    ]);
    const query = `period=${unit}&feature=${encodeURIComponent(feature)}`;
    expect(
      rowsOf(await activity(query)).map(({ amount_usd }) => amount_usd),
      unit,
    ).toEqual([1]);
    expect(await metrics(query), unit).toMatchObject({
      totals: { total_usd: 1 },
      previous: { totals: { total_usd: 2 } },
    });
  }
});

test("Gives strangers the same bytes as for what does not exist", async () => {
  const { slug, key, viewer } = await makeActivityWorkspace(harness);
  const other = await makeActivityWorkspace(harness);
  const [id = ""] = await bulk(key, [costMessage()]);
  const ask = async (client: ReturnType<typeof apiClient>, path: string) => {
    const { status, body } = await client.get(`/api/v1/workspaces/${path}`);
    return [status, JSON.stringify({ ...body, request_id: "" })];
  };
  const missing = await ask(viewer, "no-such-workspace/activity");
  expect(missing[0]).toBe(404);
  for (const path of ["activity", "metrics", "export", `messages/${id}`]) {
    expect(await ask(other.viewer, `${slug}/${path}`), path).toEqual(missing);
  }
  expect(await ask(viewer, `${slug}/messages/${randomUUID()}`)).toEqual(missing);
  expect(await ask(other.viewer, `${other.slug}/messages/${id}`)).toEqual(missing);
});

test("Hides every row of messages and rollups from non-members by row-level security alone", async () => {
  const { id, key } = await makeActivityWorkspace(harness);
  await bulk(key, [costMessage()]);
  const { id: stranger } = await addUser(harness, await harness.fixtures.workspace(), "owner");
  const client = await harness.fixtures.sql.connect();
  try {
    await client.query("begin");
    await actAs(client, { sub: stranger });
    for (const table of ["messages", "daily_spend", "daily_totals"]) {
      const { rows } = await client.query(
        `select count(*)::int as seen from public.${table} where workspace_id = $1`,
        [id],
      );
      expect(rows[0].seen, table).toBe(0);
    }
  } finally {
    await client.query("rollback");
    client.release();
  }
});
