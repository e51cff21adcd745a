import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type ActivityRow, bulk, makeActivityWorkspace, pages } from "@/tests/helpers/activity";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { addUser } from "@/tests/helpers/team";

const harness = withSharedHarness();

const sorts = ["-time", "time", "-amount", "amount", "-quantity", "quantity"] as const;
const quarters = (count: number) => count / 4;

/**
 * A workspace with messages of every kind: with lines of several models and sessions, equal in amount and time, voided and
 * corrected. Amounts are quarters of a dollar, which floats add up exactly.
 */
async function makeMixedWorkspace() {
  const made = await makeActivityWorkspace(harness);
  const at = (index: number) => `2026-1${index % 2}-0${1 + (index % 7)}T12:00:00.00${index % 3}Z`;
  const line = (index: number, cost: number) => ({
    model: `m${index % 3}`,
    feature: index % 2 ? "search" : "chat",
    user: `u${index % 4}`,
    session: `s${index % 5}`,
    unit_type: "input_tokens",
    quantity: 1 + index,
    estimated_cost: quarters(cost),
  });
  const ids = await bulk(
    made.key,
    Array.from({ length: 70 }, (_, index) => {
      const outer = { project: `p${index % 3}` };
      const own = { occurred_at: at(index), tags: { team: `t${index % 2}` } };
      if (index % 10 === 0) {
        const items = [line(index, 1 + (index % 8)), line(index + 1, 9), line(index + 2, 2)];
        return {
          ...outer,
          source: "api",
          message: { type: "batch", provider: "openai", batch_id: `b${index}`, items, ...own },
        };
      }
      if (index % 10 === 1) {
        const { unit_type, quantity, estimated_cost, ...shared } = line(index, 3);
        const lines = [
          { unit_type, quantity, estimated_cost },
          { unit_type: "output_tokens", quantity: 2, estimated_cost: quarters((index % 6) + 1) },
        ];
        return {
          ...outer,
          source: "api",
          message: { type: "usage", provider: "openai", ...shared, lines, ...own },
        };
      }
      if (index % 10 === 2)
        return {
          ...outer,
          source: "api",
          message: { type: "expense", vendor: "acme", amount: quarters(50 + index), currency: "USD", ...own },
        };
      if (index === 3)
        return {
          ...outer,
          source: "api",
          message: {
            type: "subscription",
            vendor: "acme",
            plan: "pro",
            amount: 12,
            currency: "USD",
            interval: "year",
            starts_on: "2026-10-05",
          },
        };
      return costMessage({ ...line(index, 1 + (index % 4)), ...own }, outer);
    }),
  );
  const moved = { type: "allocation", from_project: "p0", amount: 1.5, occurred_at: at(3) };
  await bulk(made.key, [{ project: "p1", source: "api", message: moved }]);
  const { token } = await addUser(harness, made.id, "owner");
  const owner = apiClient(harness.services[0]?.baseUrl ?? "", token);
  for (const index of [0, 1, 2, 7]) {
    const path = `/api/v1/workspaces/${made.slug}/messages/${ids[index]}/void`;
    expect((await owner.call("POST", path, { reason: "Wrong." })).status).toBe(201);
  }
  for (const index of [10, 12]) {
    const path = `/api/v1/workspaces/${made.slug}/messages/${ids[index]}/correct`;
    const lines = [1, 2].map((cost) => ({
      unit_type: "input_tokens",
      quantity: 1,
      estimated_cost: quarters(cost),
    }));
    const message = { type: "usage", provider: "openai", model: "m1", session: "s1", lines };
    const body = { reason: "Wrong.", project: "p1", message };
    expect((await owner.call("POST", path, body)).status).toBe(201);
  }
  return { ...made, ids };
}

const value = (row: ActivityRow, sort: string) =>
  sort.endsWith("time")
    ? Date.parse(String(row.occurred_at))
    : sort.endsWith("amount")
      ? Number(row.message_amount_usd)
      : row.quantity === null
        ? sort.startsWith("-")
          ? -Infinity
          : Infinity
        : Number(row.quantity);

test("Lists each row once in every order, whatever the filters, and rows sum to the total of metrics", async () => {
  const { activity, metrics } = await makeMixedWorkspace();
  const all = (await pages(activity, "period=all&limit=100")).flat();
  expect(all.length).toBeGreaterThan(80);
  const filter = fc.oneof(
    fc.constant(""),
    fc.constantFrom(
      "project=p0",
      "project=p1",
      "type=batch",
      "type=usage",
      "feature=search",
      "model=m1",
      "tag=team:t1",
      "user=u2",
      "provider=openai",
      "model=",
      "session=s1",
      "q=chat",
      "cost_status=client",
    ),
  );
  const cases = fc.record({
    sort: fc.constantFrom(...sorts),
    filter,
    limit: fc.constantFrom(3, 7, 25, 100),
    min: fc.option(fc.integer({ min: -20, max: 20 }).map(quarters), { nil: undefined }),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ sort, filter, limit, min }) => {
      const asked = `period=all&${filter}${min === undefined ? "" : `&min_amount=${min}`}`;
      const rows = (await pages(activity, `${asked}&sort=${sort}&limit=${limit}`)).flat();
      const names = rows.map(({ id, part }) => `${id} ${part}`);
      expect(new Set(names).size).toBe(names.length);
      const values = rows.map((row) => value(row, sort));
      const direction = sort.startsWith("-") ? -1 : 1;
      expect(values).toEqual([...values].sort((a, b) => (a === b ? 0 : direction * (a < b ? -1 : 1))));
      const unsorted = (await pages(activity, `period=all&${filter}&limit=100`)).flat();
      const expected = unsorted.filter((row) => min === undefined || Number(row.message_amount_usd) >= min);
      expect([...names].sort()).toEqual(expected.map(({ id, part }) => `${id} ${part}`).sort());
      if (min !== undefined || /session|q=|cost_status/.test(filter)) return;
      const { totals, booked_ahead: ahead } = (await metrics(`period=all&${filter}`)) as {
        totals: { total_usd: number };
        booked_ahead: { total_usd: number } | null;
      };
      const sum = rows.reduce((total, { amount_usd }) => total + Number(amount_usd), 0);
      expect(sum).toBe(totals.total_usd + (ahead?.total_usd ?? 0));
    }),
    { numRuns: 40 },
  );
});

test("Finds all of a session by the sessions of its lines", async () => {
  const { activity } = await makeMixedWorkspace();
  const all = (await pages(activity, "period=all&limit=100")).flat();
  const rows = (await pages(activity, "period=all&session=s1&limit=5")).flat();
  expect(rows.some(({ message_type }) => message_type === "batch")).toBe(true);
  expect(rows.length).toBeLessThan(all.length);
  expect(rows.every(({ session }) => session === "s1")).toBe(true);
});

test("Sums each session to its rows, in either order, and says so beside each of its messages", async () => {
  const { activity, viewer, slug } = await makeMixedWorkspace();
  const path = `/api/v1/workspaces/${slug}/sessions?period=all`;
  type Session = { session: string; amount_usd: number; call_count: number };
  for (const sort of ["-amount", "-time"]) {
    const seen: Session[] = [];
    for (let cursor = ""; ; ) {
      const { body } = await viewer.get(`${path}&sort=${sort}&limit=2${cursor && `&cursor=${cursor}`}`);
      seen.push(...(body.sessions as Session[]));
      if (body.next_cursor === null) break;
      cursor = String(body.next_cursor);
    }
    expect(seen.map(({ session }) => session).sort()).toEqual(["s0", "s1", "s2", "s3", "s4"]);
    for (const { session, amount_usd, call_count } of seen) {
      const rows = (await pages(activity, `period=all&limit=100&session=${session}`)).flat();
      expect(
        rows.reduce((sum, row) => sum + Number(row.amount_usd), 0),
        session,
      ).toBe(amount_usd);
      const sign = (row: ActivityRow) => (row.voids === null ? 1 : -1);
      expect(
        rows.reduce((count, row) => count + sign(row), 0),
        session,
      ).toBe(call_count);
      const one = await viewer.get(`${path}&session=${session}`);
      expect(one.body.sessions, session).toMatchObject([{ session, amount_usd, call_count }]);
      const [single] = rows.filter(({ message_type }) => message_type === "usage");
      const { body } = await viewer.get(`/api/v1/workspaces/${slug}/messages/${single?.id}`);
      expect(body.session_total).toMatchObject({ amount_usd, call_count });
    }
  }
});

test("Sorts messages with lines by the sum of their lines, after a correction too", async () => {
  const { key, slug, id, activity } = await makeActivityWorkspace(harness);
  const lines = [1, 2].map((cost) => ({ unit_type: "input_tokens", quantity: 1, estimated_cost: cost }));
  const usage = (message: object) => ({
    project: "p",
    source: "api",
    message: { type: "usage", provider: "x", model: "m", ...message },
  });
  const [whole = "", single = ""] = await bulk(key, [
    usage({ lines }),
    costMessage({ estimated_cost: 2.5 }, { project: "p" }),
  ]);
  const order = async () => ((await activity("sort=-amount")).activity as ActivityRow[]).map((row) => row.id);
  expect(await order()).toEqual([whole, single]);
  const owner = apiClient(harness.services[0]?.baseUrl ?? "", (await addUser(harness, id, "owner")).token);
  const message = {
    type: "usage",
    provider: "x",
    model: "m",
    lines: lines.map((line) => ({ ...line, estimated_cost: 1.2 })),
  };
  const { body } = await owner.call("POST", `/api/v1/workspaces/${slug}/messages/${whole}/correct`, {
    reason: "r",
    project: "p",
    message,
  });
  const { id: voided, correction } = body as { id: string; correction: { id: string } };
  expect(await order()).toEqual([whole, single, correction.id, voided]);
});

test.each([
  ["sort=price", "query.sort"],
  ["min_amount=ten", "query.min_amount"],
  ["min_amount=2&max_amount=1", "query.max_amount"],
  ["max_amount=1e5", "query.max_amount"],
])("Refuses ?%s, naming %s", async (query, path) => {
  const { slug, viewer } = await makeActivityWorkspace(harness);
  const { status, body } = await viewer.get(`/api/v1/workspaces/${slug}/activity?${query}`);
  expect([status, (body.issues as { path: string }[])[0]?.path]).toEqual([400, path]);
});

test("Refuses a cursor of another order", async () => {
  const { key, slug, viewer, activity } = await makeActivityWorkspace(harness);
  await bulk(key, [costMessage(), costMessage()]);
  for (const sort of sorts) {
    const { next_cursor: cursor } = await activity(`limit=1&sort=${sort}`);
    for (const other of sorts.filter((each) => each !== sort)) {
      const { status } = await viewer.get(
        `/api/v1/workspaces/${slug}/activity?sort=${other}&cursor=${cursor}`,
      );
      expect(status, `${sort} as ${other}`).toBe(400);
    }
  }
});

test("Refuses to sort more messages by quantity than it reads at once", async () => {
  const { id, slug, viewer, key } = await makeActivityWorkspace(harness);
  await bulk(key, [costMessage()]);
  const path = `/api/v1/workspaces/${slug}/activity?period=all&sort=-quantity`;
  expect((await viewer.get(path)).status).toBe(200);
  await harness.fixtures.sql.query(
    "update public.daily_totals set message_count = 100001 where workspace_id = $1 and dimension = 'provider'",
    [id],
  );
  const { status, body } = await viewer.get(path);
  expect([status, (body.issues as { path: string }[])[0]?.path]).toEqual([400, "query.sort"]);
  expect((await viewer.get(`${path}&project=none-${randomUUID()}`)).status).toBe(200);
});

test("Continues a sorted search for rare rows behind those that it has looked at", async () => {
  const { id, key, activity } = await makeActivityWorkspace(harness);
  const [needle = ""] = await bulk(key, [costMessage({ label: "needle", estimated_cost: 0.001 })]);
  await harness.fixtures.sql.query(
    `insert into public.messages
       (workspace_id, id, occurred_at, created_at, project_id, type, source, environment, amount_usd, cost_status)
     select $1, gen_random_uuid(), now() - n * interval '1 millisecond', now(), project_id, 'usage', 'api', 'live', n, 'client'
     from generate_series(1, 60000) as n, (select project_id from public.messages where id = $2) as of`,
    [id, needle],
  );
  const found = await pages(activity, "period=all&q=needle&sort=-amount");
  expect(found.map((page) => page.map((row) => row.id))).toEqual([[], [needle]]);
});
