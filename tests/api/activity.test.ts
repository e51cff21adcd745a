import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { withHarness } from "@/tests/helpers/harness";
import { addUser } from "@/tests/helpers/team";

const harness = withHarness();
const baseUrl = () => harness.services[0]?.baseUrl ?? "";

type Client = ReturnType<typeof apiClient>;
type Row = Record<string, unknown>;

/** A workspace of its own with a key and a viewer. */
async function makeWorkspace() {
  const slug = `w-${randomUUID()}`;
  const id = await harness.fixtures.workspace(slug);
  const made = await harness.fixtures.key(id);
  const viewer = apiClient(baseUrl(), (await addUser(harness, id, "viewer")).token);
  const key = apiClient(baseUrl(), made.secret);
  const activity = async (query = "") =>
    (await viewer.get(`/api/v1/workspaces/${slug}/activity?${query}`)).body;
  const metrics = async (query = "") =>
    (await viewer.get(`/api/v1/workspaces/${slug}/metrics?${query}`)).body;
  return { slug, id, keyId: made.id, key, viewer, activity, metrics };
}

const bulk = async (key: Client, messages: unknown[]) => {
  const { body } = await key.call("POST", "/api/v1/messages/batch", { messages });
  expect(body.refused, JSON.stringify(body.results)).toBe(0);
  return (body.results as { id: string }[]).map(({ id }) => id);
};
const rowsOf = (body: Record<string, unknown>) => body.activity as Row[];

/** Every page of a query. */
async function pages(
  read: (query: string) => Promise<Record<string, unknown>>,
  query: string,
  between?: () => unknown,
) {
  const all: Row[][] = [];
  for (let cursor = ""; ; ) {
    const body = await read(`${query}${cursor && `&cursor=${cursor}`}`);
    all.push(rowsOf(body));
    if (body.next_cursor === null) return all;
    cursor = String(body.next_cursor);
    await between?.();
  }
}

describe("A row of activity", () => {
  let team: Awaited<ReturnType<typeof makeWorkspace>>;
  let ids: string[];
  beforeAll(async () => {
    team = await makeWorkspace();
    const line = { unit_type: "input_tokens", quantity: 1000 };
    ids = await bulk(team.key, [
      costMessage({ quantity: 1_234_567, feature: "chat" }, { idempotency_key: "order-1042" }),
      costMessage({ label: "Nightly 100%_run", occurred_at: "2026-01-05T00:00:00.123456Z" }),
      {
        project: "checkout",
        source: "api",
        message: {
          type: "batch",
          provider: "openai",
          batch_id: "b-7",
          items: [
            { ...line, model: "gpt-4o", feature: "chat", estimated_cost: 0.25 },
            { ...line, model: "gpt-4o", feature: "search", estimated_cost: 0.5 },
            { ...line, model: "unheard-of", feature: "search" },
          ],
        },
      },
      {
        project: "office",
        source: "import",
        message: {
          type: "expense",
          vendor: "Figma",
          amount: 100,
          currency: "EUR",
          category: "design",
          notes: "Invoice 12",
        },
      },
      {
        project: "office",
        source: "api",
        message: { type: "allocation", from_project: "checkout", amount: 0.2 },
      },
      {
        project: "office",
        source: "api",
        message: {
          type: "subscription",
          vendor: "Linear",
          amount: 120,
          interval: "year",
          plan: "Team",
          starts_on: "2026-01-31",
        },
      },
    ]);
  });
  const one = async (query: string) => {
    const rows = rowsOf(await team.activity(query));
    expect(rows).toHaveLength(1);
    return rows[0] ?? {};
  };

  test("Has the specification's fields, and always a label", async () => {
    const body = await team.activity();
    expect(body).toMatchObject({ period: "month", count: rowsOf(body).length, next_cursor: null });
    const row = await one("type=usage&period=month");
    expect(row).toMatchObject({
      id: ids[0],
      part: 0,
      amount_usd: 0.01,
      message_type: "usage",
      project_slug: "checkout",
      project_name: "checkout",
      environment: "live",
      feature: "chat",
      source: "api",
      label: "gpt-4o · 1,234,567 input tokens",
      key: { id: team.keyId, name: "Test key" },
      user: null,
    });
    expect((await one("type=expense")).label).toBe("Figma · design");
    expect(
      rowsOf(await team.activity("type=allocation")).map(({ label, amount_usd }) => [label, amount_usd]),
    ).toEqual([
      ["To another project", -0.2],
      ["From checkout", 0.2],
    ]);
    const year = rowsOf(await team.activity("type=subscription&period=all"));
    expect(year.map(({ label }) => label)).toEqual(
      Array.from({ length: 12 }, (_, index) => `Linear · Team · month ${12 - index} of 12`),
    );
    expect(year.map(({ occurred_at }) => String(occurred_at).slice(0, 10)).slice(-3)).toEqual([
      "2026-03-31",
      "2026-02-28",
      "2026-01-31",
    ]);
  });

  test("Shows of a filtered batch what its matching lines cost, and the whole", async () => {
    const whole = await one("type=batch");
    expect(whole).toMatchObject({
      amount_usd: 0.75,
      message_amount_usd: 0.75,
      line_count: 3,
      model: null,
      feature: null,
      cost_status: "unpriced",
    });
    expect(whole.label).toBe("openai · batch b-7 · 3 lines");
    expect(await one("type=batch&feature=search")).toMatchObject({
      amount_usd: 0.5,
      message_amount_usd: 0.75,
      line_count: 2,
      feature: "search",
      model: null,
    });
    expect(await one("type=batch&feature=search&model=gpt-4o")).toMatchObject({
      amount_usd: 0.5,
      line_count: 1,
      cost_status: "client",
    });
    expect(await one("cost_status=unpriced")).toMatchObject({
      amount_usd: 0,
      line_count: 1,
      model: "unheard-of",
    });
  });

  test("Is found by text in label, feature, model, provider and notes", async () => {
    const found = async (q: string) =>
      rowsOf(await team.activity(`period=all&q=${encodeURIComponent(q)}`))
        .map(({ message_type }) => message_type)
        .sort();
    expect(await found("nightly 100%_")).toEqual(["usage"]);
    expect(await found("100__run")).toEqual([]);
    expect(await found("INVOICE 12")).toEqual(["expense"]);
    expect(await found("figm")).toEqual(["expense"]);
    expect(await found("unheard")).toEqual(["batch"]);
    expect(await found("chat")).toEqual(["batch", "usage"]);
  });

  test("Is found by an empty filter when it lacks the value", async () => {
    expect(rowsOf(await team.activity("provider=")).map(({ message_type }) => message_type)).toEqual([
      "allocation",
      "allocation",
    ]);
    expect(rowsOf(await team.activity("key="))).toEqual([]);
  });

  test("Shows by itself how its amount was computed", async () => {
    const read = async (index: number) =>
      (await team.viewer.get(`/api/v1/workspaces/${team.slug}/messages/${ids[index]}`)).body;
    expect((await read(0)).idempotency_key).toBe("order-1042");
    expect(await read(2)).toMatchObject({
      idempotency_key: null,
      message_type: "batch",
      amount_usd: 0.75,
      lines: [{ amount_usd: 0.25 }, { amount_usd: 0.5 }, { cost_status: "unpriced" }],
    });
    expect(await read(3)).toMatchObject({
      currency: "EUR",
      original_amount: 100,
      notes: "Invoice 12",
      price: { rate: expect.any(Number), date: expect.any(String) },
    });
    expect(await read(4)).toMatchObject({
      amount_usd: 0.2,
      entries: [
        { project_slug: "office", amount_usd: 0.2 },
        { project_slug: "checkout", amount_usd: -0.2 },
      ],
    });
    const year = await read(5);
    expect(year).toMatchObject({ amount_usd: 120, details: { plan: "Team" } });
    expect(year.entries).toHaveLength(12);
  });
});

test("Answers the longest possible range", async () => {
  const { slug, viewer } = await makeWorkspace();
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
  ["from=2026-01-01", "query.from"],
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
  const { slug, viewer } = await makeWorkspace();
  const { status, body } = await viewer.get(`/api/v1/workspaces/${slug}/activity?${query}`);
  expect([status, body.error]).toEqual([400, "validation_failed"]);
  expect((body.issues as { path: string }[]).map((issue) => issue.path)).toContain(path);
});

test("Lists every row once over all pages while others are recorded", async () => {
  const { key, activity } = await makeWorkspace();
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
  const { id, key, activity } = await makeWorkspace();
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
       $1::uuid, day, project_id, null, 'usage', null, null, null, 'api', 'live', 0, messages, messages, 0
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
  const { key, activity, metrics } = await makeWorkspace();
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
  const { slug, key, viewer } = await makeWorkspace();
  const other = await makeWorkspace();
  const [id = ""] = await bulk(key, [costMessage()]);
  const ask = async (client: Client, path: string) => {
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
  const { id, key } = await makeWorkspace();
  await bulk(key, [costMessage()]);
  const { id: stranger } = await addUser(harness, await harness.fixtures.workspace(), "owner");
  const client = await harness.fixtures.sql.connect();
  try {
    await client.query("begin");
    await client.query(
      "select set_config('role', 'authenticated', true), set_config('request.jwt.claims', $1, true)",
      [JSON.stringify({ sub: stranger, role: "authenticated" })],
    );
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
