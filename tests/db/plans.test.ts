import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { fillHistory } from "@/bench/ten-million/fill";
import { activityQuery } from "@/lib/contract/spend/activity";
import { exportQuery } from "@/lib/contract/spend/activity-filters";
import { dimensions, metricsQuery } from "@/lib/contract/spend/metrics";
import { namesQuery } from "@/lib/contract/spend/names";
import type { KeyClaims, UserClaims } from "@/lib/db/transaction";
import { readMessage } from "@/lib/spend/activity/message";
import { readActivity } from "@/lib/spend/activity/service";
import { listRequests } from "@/lib/spend/budget-requests/list";
import { listBudgets, readBudgetStatus } from "@/lib/spend/budgets/service";
import { exportActivity } from "@/lib/spend/exports/service";
import { readMetrics } from "@/lib/spend/metrics/service";
import { readTaggedMetrics } from "@/lib/spend/metrics/tag";
import { findNames } from "@/lib/spend/names/service";
import { listProjects, listSpendOfProjects } from "@/lib/spend/projects/service";
import { readProjectSpend } from "@/lib/spend/summaries/project-spend";
import { readMonthSummary } from "@/lib/spend/summaries/service";
import { readActivityView } from "@/lib/spend/views/activity";
import { readOverview } from "@/lib/spend/views/overview";
import { readPricesView } from "@/lib/spend/views/prices";
import { type CapturedPlan, capturePlans } from "@/tests/helpers/captured-plans";
import { connectService } from "@/tests/helpers/connect-service";
import type { TestDatabase } from "@/tests/helpers/database";
import type { Fixtures } from "@/tests/helpers/keys";
import { claimsOf, createUser } from "@/tests/helpers/sql-user";
import { withDatabase } from "@/tests/helpers/with-database";

let database: TestDatabase;
let fixtures: Fixtures;
let plansOf: (run: () => Promise<unknown>) => Promise<CapturedPlan[]>;
let member: UserClaims;
let key: KeyClaims;
let messageId: string;
/** The partitions that have a few pages at most. */
let tiny: Set<string>;

/** A workspace among others, as most are: its rows are few of each partition's. */
const slug = "small";
/** The history ends in the middle of a month, the last of five. */
const now = Date.now();
const monthsAgo = (months: number) => {
  const today = new Date(now);
  return new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - months, 1)).toISOString();
};

withDatabase((open) => {
  ({ database, fixtures } = open);
});
connectService(() => database);
beforeAll(async () => {
  await fillHistory(database.adminUrl, { postings: 30_000, small: 600, days: 125, now, say: () => {} });
  const { rows } = await fixtures.sql.query(
    `select w.id as workspace, k.id as key,
       (select id from public.messages where workspace_id = w.id order by occurred_at limit 1) as message
     from public.workspaces as w join public.api_keys as k on k.workspace_id = w.id and k.environment = 'live'
     where w.slug = $1 limit 1`,
    [slug],
  );
  const [{ workspace, key: keyId, message }] = rows;
  messageId = message;
  const user = await createUser(fixtures);
  await fixtures.sql.query(
    "insert into public.workspace_members (workspace_id, user_id, role) select id, $2, 'owner' from public.workspaces where id = $1 or slug = 'large'",
    [workspace, user.id],
  );
  await fixtures.sql.query("analyze");
  const small = await fixtures.sql.query(
    "select relname as name from pg_catalog.pg_class where relname like 'messages\\_20%' and relkind = 'r' and relpages <= 5",
  );
  tiny = new Set(small.rows.map(({ name }) => name));
  expect(tiny).not.toContain(`messages_${nameOf(monthsAgo(0))}`);
  member = claimsOf(user);
  key = { id: keyId, workspace_id: workspace, environment: "live", allow: null, deny: [] };
  plansOf = await capturePlans(database);
}, 180_000);

/** The partitions of `messages` that a read touched, as months `YYYY_MM`. */
const monthsOf = (plans: CapturedPlan[]) =>
  [
    ...new Set(
      plans.flatMap(({ scans }) =>
        scans.flatMap(({ table }) => /^messages_(\d{4}_\d\d)$/.exec(table)?.[1] ?? []),
      ),
    ),
  ].sort();

/**
 * That a read scans no partition of `messages` from one end to the other, but for those of a few pages, where nothing is
 * faster: months to come have only parts of yearly charges. @returns the months that it touched
 */
async function readMonths(run: () => Promise<unknown>): Promise<string[]> {
  const plans = await plansOf(run);
  expect(plans).not.toEqual([]);
  const wholeScans = plans.flatMap(({ statement, scans }) =>
    scans
      .filter(({ type, table }) => type.endsWith("Seq Scan") && /^messages/.test(table) && !tiny.has(table))
      .map(({ table }) => `${table} in ${statement}`),
  );
  expect(wholeScans).toEqual([]);
  return monthsOf(plans);
}

const nameOf = (instant: string) => instant.slice(0, 7).replace("-", "_");
const range = (from: string, until: string) => ({
  period: "range",
  from: from.slice(0, 10),
  to: new Date(Date.parse(until) - 1).toISOString().slice(0, 10),
});
const metrics = (query: Record<string, string>) => readMetrics(member, slug, metricsQuery.parse(query));
const activity = (query: Record<string, string>) => readActivity(member, slug, activityQuery.parse(query));
const readAll = async (query: Record<string, string>) => {
  const { text } = await exportActivity(member, slug, exportQuery.parse(query));
  let length = 0;
  for await (const piece of text) length += piece.length;
  return length;
};

test("Takes the plans of what is read, partitions by index", async () => {
  const plans = await plansOf(() => activity({ period: "all", limit: "100" }));
  expect(plans.flatMap(({ scans }) => scans).filter(({ table }) => /^messages/.test(table))).not.toEqual([]);
});

describe("Reads of sums touch no message", () => {
  test.each<[string, () => Promise<unknown>]>([
    ["the summary of the month", () => readMonthSummary(key)],
    ["budgets that a key sees", () => readBudgetStatus(key)],
    ["budgets", () => listBudgets(member, slug)],
    ["requests for more of budgets", () => listRequests(member, slug)],
    ["projects", () => listProjects(member, slug)],
    [
      "projects in a range",
      () => listSpendOfProjects(member, slug, { period: "last_90_days", compare: "none" }),
    ],
    ["features and people by name", () => findNames(member, slug, namesQuery.parse({ q: "feature" }))],
    ...dimensions.flatMap((dimension): [string, () => Promise<unknown>][] => [
      [`metrics by ${dimension}`, () => metrics({ group_by: dimension, compare: "none" })],
      [`metrics by ${dimension} of everything`, () => metrics({ group_by: dimension, period: "all" })],
    ]),
    ["metrics of a person", () => metrics({ user: "person-1", period: "all" })],
    ["metrics of a tag", () => metrics({ tag: "team:team-1", group_by: "user", compare: "none" })],
    [
      "metrics with every filter",
      () => metrics({ model: "gpt-4o", project: "project-1", feature: "", type: "usage", compare: "none" }),
    ],
    ["the overview", () => readOverview(member, slug, metricsQuery.parse({ compare: "none" }))],
    ["spend with its tag", () => readTaggedMetrics(member, slug, metricsQuery.parse({ period: "year" }))],
  ])("%s", async (_, run) => {
    expect(await readMonths(run)).toEqual([]);
  });
});

test("Reads the sums of a feature, model or key without reading all others", async () => {
  const [crowded, id] = [`w-${randomUUID()}`, randomUUID()];
  await fixtures.sql.query(
    `with workspace as (
       insert into public.workspaces (id, name, slug) values ($1, 'Crowded', $2) returning id
     )
     insert into public.workspace_members (workspace_id, user_id, role) select id, $3, 'viewer' from workspace`,
    [id, crowded, member.sub],
  );
  const inAll = 40_000;
  await fixtures.sql.query(
    `insert into public.daily_spend
     select $1, (now() at time zone 'UTC')::date, gen_random_uuid(), format('00000000-0000-4000-8000-%s', lpad((number % 100)::text, 12, '0'))::uuid, 'usage', 'openai', 'm' || number % 101,
       'f' || number % 103, 'api', 'live', 1, 1, 1, 0
     from generate_series(1, $2::int) as number`,
    [id, inAll],
  );
  await fixtures.sql.query("analyze public.daily_spend");
  const someKey = "00000000-0000-4000-8000-000000000001";
  for (const filter of [{ feature: "f1" }, { model: "m1" }, { key: someKey }]) {
    const query = metricsQuery.parse({ period: "day", ...filter });
    const plans = await plansOf(async () => {
      expect((await readMetrics(member, crowded, query)).totals.message_count).toBeGreaterThan(300);
    });
    const scans = plans.flatMap((plan) => plan.scans).filter(({ table }) => table === "daily_spend");
    expect(scans, JSON.stringify(filter)).not.toEqual([]);
    expect(
      scans.reduce((sum, { rows }) => sum + rows, 0),
      JSON.stringify(filter),
    ).toBeLessThan(inAll / 10);
  }
});

test.each<[string, () => Promise<unknown>]>([
  ["Metrics", () => metrics({})],
  [
    "Metrics with every filter",
    () => metrics({ model: "gpt-4o", project: "project-1", feature: "", type: "usage" }),
  ],
  ["The overview", () => readOverview(member, slug, metricsQuery.parse({}))],
  ["The projects", () => listSpendOfProjects(member, slug, { period: "month" })],
])("%s of a month that goes on read messages of the one day that is cut alone, by index", async (_, run) => {
  expect(await readMonths(run)).toEqual([nameOf(new Date(now - 28 * 86_400_000).toISOString())]);
});

test("Expects about as many messages as a key may read, so that it lists the latest ones in their order", async () => {
  const { rows: keys } = await fixtures.sql.query(
    `select w.id as workspace_id, k.id from public.workspaces as w
       join public.api_keys as k on k.workspace_id = w.id and k.environment = 'live'
     where w.slug = 'large' limit 1`,
  );
  const client = await fixtures.sql.connect();
  try {
    await client.query("begin");
    await client.query("select set_config('request.api_key', $1, true)", [
      JSON.stringify({ ...key, ...keys[0] }),
    ]);
    await client.query("set local role outlay_key");
    const { rows } = await client.query(
      `explain (analyze, timing off, format json) select id from public.messages where workspace_id = '${keys[0].workspace_id}'`,
    );
    const { Plan: plan } = rows[0]["QUERY PLAN"][0];
    expect(plan["Actual Rows"]).toBeGreaterThan(1_000);
    expect(plan["Plan Rows"]).toBeGreaterThan(plan["Actual Rows"] / 20);
  } finally {
    await client.query("rollback");
    client.release();
  }
});

describe("Reads of messages use an index and touch only the months asked for", () => {
  const thisMonth = nameOf(monthsAgo(0));
  const [from, until] = [monthsAgo(3), monthsAgo(2)];
  const earlier = range(from, until);
  const filters: Record<string, string>[] = [
    {},
    { project: "project-1" },
    { type: "batch" },
    { environment: "test" },
    { provider: "openai" },
    { model: "gpt-4o" },
    { feature: "feature-1" },
    { user: "person-1" },
    { tag: "team:team-1" },
    { session: "session-1" },
    { emitter: "claude-code" },
    { source: "import" },
    { cost_status: "included" },
    { cost_status: "unpriced" },
    { q: "nightly" },
    { q: "what nobody wrote" },
  ];
  test.each(filters)("activity of a month with %o", async (filter) => {
    expect(["", nameOf(from)]).toContain(
      (await readMonths(() => activity({ ...earlier, ...filter }))).join(),
    );
  });

  test("the first page of everything, and the page behind a cursor", async () => {
    const first = await activity({ period: "all", limit: "50" });
    const months = await readMonths(() => activity({ period: "all", limit: "5" }));
    // Yearly charges are in months to come; the latest come first.
    expect(months.every((month) => month >= thisMonth)).toBe(true);
    const cursor = String(first.next_cursor);
    const next = await readMonths(() => activity({ period: "all", limit: "5", cursor }));
    expect(next.length).toBeLessThan(3);
  });

  test("an export", async () => {
    expect(await readMonths(() => readAll(earlier))).toEqual([nameOf(from)]);
    expect((await readMonths(() => readAll({ period: "all" }))).length).toBeGreaterThan(4);
  });

  test("a project's spend in whole days sums no message", async () => {
    const plans = await plansOf(() => readProjectSpend(key, "project-1", { from, to: until }));
    const sums = plans.filter(({ statement }) => statement.includes("grouping sets"));
    expect(sums.length).toBe(1);
    expect(monthsOf(sums)).toEqual([]);
    // The rows beside the sums are messages.
    expect(monthsOf(plans)).toEqual([nameOf(from)]);
  });

  test("a project's spend in a range that cuts days", async () => {
    const spend = () =>
      readProjectSpend(key, "project-1", {
        from: from.replace("-01T00", "-02T07"),
        to: from.replace("-01T00", "-20T07"),
      });
    expect(await readMonths(spend)).toEqual([nameOf(from)]);
  });

  test("the activity page and the prices page", async () => {
    const query = metricsQuery.parse({});
    const rows = activityQuery.parse({ period: "month" });
    expect(await readMonths(() => readActivityView(member, slug, { rows, sums: query }))).toEqual([
      thisMonth,
    ]);
    await readMonths(() => readPricesView(member, slug));
  });

  test.each(["nightly", "what nobody wrote"])(
    "a search for %s where most rows match its workspace",
    async (q) => {
      const query = activityQuery.parse({ period: "all", limit: "10", q });
      expect((await readMonths(() => readActivity(member, "large", query))).length).toBeGreaterThan(0);
    },
  );

  test("one message, which may be in any month", async () => {
    expect((await readMonths(() => readMessage(member, slug, messageId))).length).toBeGreaterThan(4);
  });
});
