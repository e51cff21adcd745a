import { describe, expect, test } from "vitest";
import type { BillAdjustment, BillAdjustmentList } from "@/lib/contract/bills/bill-adjustments";
import type { Reconciliation } from "@/lib/contract/bills/reconciliation";
import { parseDecimal, toText, sum as totalOf } from "@/lib/decimal";
import { closed, firstDay } from "@/tests/helpers/closable-months";
import { makeClosingTeam } from "@/tests/helpers/closing-team";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness();

const csv = (...rows: string[]) => ["day,model,unit,quantity,amount", ...rows].join("\n");

/** A team whose bill of a month differs from its records: usage that no source tells, web searches and another price. */
async function withDifference(month = closed, [day, later] = ["05", "06"]) {
  const team = await makeClosingTeam(harness);
  const { admin, viewer } = team.users;
  const path = `${team.path}/bill-adjustments`;
  const addBill = async (...rows: string[]) => {
    const constants = { provider: "OpenAI" };
    const { status, body } = await admin.call("POST", `${team.path}/bills`, {
      name: `${rows.length} rows`,
      content: csv(...rows),
      constants,
    });
    expect(status, JSON.stringify(body)).toBe(201);
  };
  const usage = { type: "usage", provider: "openai", model: "gpt-5", unit_type: "input_tokens" };
  const at = `${month}-${day}T00:00:00Z`;
  await team.add({ ...usage, occurred_at: at, quantity: 1_000, estimated_cost: 1.25 });
  const rows = [
    `${month}-${day},gpt-5,input_tokens,1000,1.125`,
    `${month}-${day},gpt-5,web_search,12,0.12`,
    `${month}-${later},gpt-5-mini,input_tokens,400000,0.1000007`,
  ];
  await addBill(...rows);
  return {
    ...team,
    rows,
    addBill,
    adjustmentsPath: path,
    book: (request: object = {}, user = admin) =>
      user.call("POST", path, { month, project: "checkout", ...request }),
    undo: (id: unknown, user = admin) => user.call("DELETE", `${path}/${id}`),
    adjustments: async () => (await viewer.get(path)).body as unknown as BillAdjustmentList,
    reconciled: async () =>
      (await viewer.get(`${team.path}/reconciliation?month=${month}`)).body as unknown as Reconciliation,
    metrics: async (days = `from=${month}-01&to=${month}-28`) =>
      (await viewer.get(`${team.path}/metrics?period=range&${days}`)).body,
  };
}

const partsOf = ({ detail }: Reconciliation) =>
  Object.fromEntries((detail?.parts ?? []).map(({ part, amount_usd: amount }) => [part, amount]));

describe("A difference between bill and records", () => {
  test("is previewed to the day, booked once as costs of their own type, and undone exactly", async () => {
    const { book, undo, adjustments, reconciled, metrics, users, path, workspace } = await withDifference();
    const budget = {
      ...{ scope_type: "global", amount: 1, period: "once" },
      ...{ starts_on: `${closed}-01`, ends_on: firstDay(-1) },
    };
    expect((await users.admin.call("POST", `${path}/budgets`, budget)).status).toBe(201);
    const before = await metrics();
    expect(partsOf(await reconciled())).toEqual({
      ...{ no_source: 0.1000007, no_telemetry: 0.12, price: -0.125 },
    });

    const preview = await book({ dry_run: true });
    expect(preview.status, JSON.stringify(preview.body)).toBe(201);
    const { effects, ...seen } = preview.body as unknown as BillAdjustment;
    expect(seen).toMatchObject({
      ...{ id: null, message_count: 3, amount_usd: 0.0950007, created_at: null },
      days: [
        { day: `${closed}-05`, provider: "openai", amount_usd: -0.005 },
        { day: `${closed}-06`, provider: "openai", amount_usd: 0.1000007 },
      ],
    });
    expect(effects?.projects).toMatchObject([
      {
        slug: "checkout",
        days: [
          { day: `${closed}-05`, before_usd: 1.25, after_usd: 1.245 },
          { day: `${closed}-06`, before_usd: 0, after_usd: 0.1000007 },
        ],
      },
    ]);
    expect(effects?.budgets).toMatchObject([{ before_usd: 1.25, after_usd: 1.3450007 }]);
    expect(await metrics()).toEqual(before);
    expect((await adjustments()).adjustments).toEqual([]);

    const booked = await book({ expected_usd: seen.amount_usd });
    expect(booked.status, JSON.stringify(booked.body)).toBe(201);
    const after = await reconciled();
    expect(after.detail).toMatchObject({
      ...{ billed_usd: 1.3450007, recorded_usd: 1.3450007 },
      ...{ adjusted_usd: 0.0950007, difference_usd: 0, parts: [] },
    });
    expect(after.months).toMatchObject([{ month: closed, difference_usd: 0 }]);
    // Never hidden in usage.
    expect((await metrics()).totals).toMatchObject({
      ...{ total_usd: 1.3450007, usage_usd: 1.25, adjustment_usd: 0.0950007 },
    });
    expect((await metrics()).by_type).toMatchObject([
      { value: "usage", total_usd: 1.25 },
      { value: "bill_adjustment", total_usd: 0.0950007 },
    ]);
    expect(await ledgerDifferences(harness.fixtures, workspace)).toEqual([]);

    const again = await book();
    expect(again.status).toBe(409);
    expect(again.body.error_description).toMatch(/no such difference to book/);

    const undone = await undo(booked.body.id);
    expect(undone.body).toMatchObject({ standing_usd: 0, undone_by: users.admin.email });
    expect((await undo(booked.body.id)).body).toEqual(undone.body);
    const { totals, by_project, by_provider } = await metrics();
    expect({ totals, by_project, by_provider }).toEqual({
      totals: before.totals,
      by_project: before.by_project,
      by_provider: before.by_provider,
    });
    expect(partsOf(await reconciled())).toMatchObject({ price: -0.125 });
    expect(await ledgerDifferences(harness.fixtures, workspace)).toEqual([]);
    const { rows: audited } = await harness.fixtures.sql.query(
      "select action, actor_email from public.audit_log where workspace_id = $1 and kind in ('bill_adjustment', 'message') order by at, id",
      [workspace],
    );
    const actor_email = users.admin.email;
    expect(audited).toEqual([
      { action: "bill_adjustment.created", actor_email },
      { action: "bill_adjustment.changed", actor_email },
    ]);
  });

  test("that changes with the bill is booked for what is new of it, and what is recorded late is taken back", async () => {
    const { book, addBill, add, rows, reconciled, workspace } = await withDifference();
    await book();
    const [first = "", , mini = ""] = rows;
    await addBill(first, `${closed}-05,gpt-5,web_search,15,0.15`, mini);
    expect(partsOf(await reconciled())).toEqual({ no_telemetry: 0.03 });
    expect((await book()).body).toMatchObject({ amount_usd: 0.03, message_count: 1 });
    await add({
      ...{ type: "usage", provider: "openai", model: "gpt-5-mini", unit_type: "input_tokens" },
      ...{ occurred_at: `${closed}-06T10:00:00Z`, quantity: 400_000, estimated_cost: 0.1 },
    });
    // The whole was booked as told by nobody; now a source told of it, at a price of its own.
    expect(partsOf(await reconciled())).toEqual({
      no_source: -0.1000007,
      price: 0.0000007,
    });
    expect((await book()).status).toBe(201);
    expect((await reconciled()).detail).toMatchObject({ difference_usd: 0, parts: [] });
    expect(await ledgerDifferences(harness.fixtures, workspace)).toEqual([]);
  });

  test("is booked in part: of a provider, model, day and the parts that are named", async () => {
    const { book, reconciled } = await withDifference();
    expect((await book({ provider: "anthropic" })).status).toBe(409);
    expect((await book({ day: `${closed}-05`, parts: ["no_telemetry"] })).body).toMatchObject({
      ...{ amount_usd: 0.12, message_count: 1, parts: [{ part: "no_telemetry", amount_usd: 0.12 }] },
    });
    expect((await book({ model: "gpt-5-mini" })).body).toMatchObject({ amount_usd: 0.1000007 });
    expect(partsOf(await reconciled())).toEqual({ price: -0.125 });
  });

  test("of a closed month is booked in the open one, and undone there, so that what was filed stays", async () => {
    const { book, undo, close, monthOf, reconciled, metrics, workspace } = await withDifference(closed);
    expect((await close()).status).toBe(201);
    const filed = (await monthOf()).closing;
    const booked = await book();
    expect(booked.body).toMatchObject({ days: [{ day: `${closed}-05` }, { day: `${closed}-06` }] });
    expect((await reconciled()).detail).toMatchObject({ difference_usd: 0, parts: [] });
    expect((await metrics()).totals).toMatchObject({ total_usd: 1.25, adjustment_usd: 0 });
    const { rows } = await harness.fixtures.sql.query(
      "select adjusts::date::text as day, occurred_at = created_at as is_now from public.messages where workspace_id = $1 and type = 'bill_adjustment' order by adjusts, id",
      [workspace],
    );
    expect(rows.map(({ is_now }) => is_now)).toEqual([true, true, true]);
    expect(await ledgerDifferences(harness.fixtures, workspace)).toEqual([]);
    await undo(booked.body.id);
    expect((await reconciled()).detail).toMatchObject({ adjusted_usd: 0, recorded_usd: 1.25 });
    expect((await monthOf()).closing).toEqual(filed);
    expect(await ledgerDifferences(harness.fixtures, workspace)).toEqual([]);
  });

  test("is counted by a blocking budget, and never refused by it", async () => {
    const { book, users, path, key } = await withDifference(new Date().toISOString().slice(0, 7), [
      "01",
      "01",
    ]);
    const budget = { scope_type: "global", amount: 1.3, blocks: true };
    expect((await users.admin.call("POST", `${path}/budgets`, budget)).status).toBe(201);
    const booked = await book();
    expect(booked.status, JSON.stringify(booked.body)).toBe(201);
    const message = { type: "expense", vendor: "v", amount: 0.01 };
    expect((await key.post({ project: "checkout", source: "api", message })).status).toBe(402);
  });

  test("is booked once by two admins at once", async () => {
    const { book, users, reconciled } = await withDifference();
    const answers = await Promise.all([book(), book({}, users.owner), book()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect((await reconciled()).detail).toMatchObject({ difference_usd: 0 });
  });

  test("is refused where it is not what was expected, or the project is not there, and nothing is booked", async () => {
    const { book, adjustments } = await withDifference();
    const other = await book({ expected_usd: 0.1 });
    expect(other.status).toBe(409);
    expect(other.body.error_description).toMatch(/is \$0.0950007 by now, and \$0.1 was expected/);
    const missing = await book({ project: "nowhere" });
    expect(missing.status).toBe(400);
    expect(missing.body.issues).toEqual([
      { path: "project", message: "there is no project nowhere in this workspace" },
    ]);
    expect((await book({ parts: ["not_billed_yet"] })).status).toBe(400);
    expect((await adjustments()).adjustments).toEqual([]);
  });

  test("is booked and undone by admins alone, and members see it", async () => {
    const { book, undo, users, adjustments, adjustmentsPath } = await withDifference();
    for (const user of [users.member, users.viewer]) expect((await book({}, user)).status).toBe(403);
    expect((await book({}, users.stranger)).status).toBe(404);
    const { body } = await book();
    for (const user of [users.member, users.viewer]) expect((await undo(body.id, user)).status).toBe(403);
    expect((await undo(body.id, users.stranger)).status).toBe(404);
    expect((await users.stranger.get(adjustmentsPath)).status).toBe(404);
    expect(await adjustments()).toMatchObject({ can_book: false, adjustments: [{ id: body.id }] });
  });
});

describe("The export of a reconciled month", () => {
  test("has what was billed, recorded and booked, with sums that are those of its rows, and the hash of a closed month", async () => {
    const { book, close, monthOf, path, users } = await withDifference(closed);
    expect((await close()).status).toBe(201);
    await book({ parts: ["no_source", "price"] });
    const read = async (month: string, user = users.viewer) => {
      const address = `${harness.services[0]?.baseUrl}${path}/reconciliation/export?month=${month}`;
      return fetch(address, { headers: { authorization: `Bearer ${user.token}` } });
    };
    const answer = await read(closed);
    expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    const [names = [], ...lines] = (await answer.text())
      .trim()
      .split("\r\n")
      .map((line) => line.split(","));
    const rows = lines.map((cells) => Object.fromEntries(names.map((name, index) => [name, cells[index]])));
    const amounts = names.filter((name) => name.endsWith("_usd"));
    const of = (kind: string) => rows.filter(({ row }) => row === kind);
    for (const name of amounts) {
      const [sum] = of("month").map((row) => row[name]);
      for (const kind of ["line", "provider"])
        expect(toText(totalOf(of(kind).map((row) => parseDecimal(row[name] ?? ""))))).toBe(sum);
    }
    expect(of("month")).toMatchObject([
      {
        ...{ billed_usd: "1.3450007", recorded_usd: "1.2250007", adjusted_usd: "-0.0249993" },
        ...{ difference_usd: "0.12", no_telemetry_usd: "0.12", price_usd: "0" },
        filed_export_sha256: (await monthOf()).closing?.sha256,
      },
    ]);
    expect(of("line").map(({ from, model }) => [from, model])).toEqual([
      [`${closed}-05`, "gpt-5"],
      [`${closed}-06`, "gpt-5-mini"],
    ]);
    expect((await read("2020-01")).status).toBe(404);
    expect((await read(closed, users.stranger)).status).toBe(404);
  });
});

describe("A message of an adjustment", () => {
  test("that is voided by itself is to be booked again; it is not corrected, nor changed with others", async () => {
    const { book, undo, reconciled, voids, corrects, users, path, workspace } = await withDifference();
    const booked = await book();
    const { rows } = await harness.fixtures.sql.query(
      "select id from public.messages where workspace_id = $1 and details ->> 'part' = 'price'",
      [workspace],
    );
    const { id } = rows[0];
    expect((await corrects(id, { type: "expense", vendor: "v", amount: 1 })).status).toBe(409);
    const action = { action: "void", messages: [id], reason: "Twice." };
    const bulk = await users.admin.call("POST", `${path}/messages/bulk-actions`, action);
    expect(bulk.status).toBe(409);
    expect(bulk.body.error_description).toMatch(/undone on the page Reconciliation/);
    expect((await voids(id)).status).toBe(201);
    expect(partsOf(await reconciled())).toEqual({ price: -0.125 });
    expect((await undo(booked.body.id)).body).toMatchObject({ standing_usd: 0 });
    expect(await ledgerDifferences(harness.fixtures, workspace)).toEqual([]);
  });
});
