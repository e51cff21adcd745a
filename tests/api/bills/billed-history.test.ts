import { expect, test } from "vitest";
import { withHistory } from "@/lib/bills/add-history";
import type { BilledHistory } from "@/lib/contract/bills/billed-history";
import type { Metrics } from "@/lib/contract/spend/metrics";
import { parseDecimal, sum, toText } from "@/lib/decimal";
import { addDays } from "@/lib/spend/period";
import { clientIn } from "@/tests/helpers/recording";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam } from "@/tests/helpers/team";

const harness = withSharedHarness();
const today = new Date().toISOString().slice(0, 10);
const ago = (days: number) => addDays(today, -days);
const sumOf = (amounts: unknown[]) => toText(sum(amounts.map((amount) => parseDecimal(String(amount)))));

async function withBills() {
  const team = await makeTeam(harness);
  const { admin, viewer } = team.users;
  const key = await clientIn(harness, team.workspace);
  const record = async (days: number, message: object) => {
    const at = { project: "checkout", source: "api" };
    const occurred = { occurred_at: `${ago(days)}T12:00:00Z`, provider: "OpenAI", ...message };
    const { status, body } = await key.post({ ...at, message: occurred });
    expect(status, JSON.stringify(body)).toBe(201);
  };
  const rows = Array.from({ length: 60 }, (_, index) => `${ago(index + 1)},openai,${index + 1}.000000000001`);
  const bill = { name: "costs.csv", content: ["day,provider,amount", ...rows].join("\n") };
  const added = await admin.call("POST", `${team.path}/bills`, bill);
  expect(added.status, JSON.stringify(added.body)).toBe(201);
  return {
    ...{ ...team, admin, record, billId: String(added.body.id) },
    history: async (query = "") =>
      (await viewer.get(`${team.path}/billed-history${query}`)).body as unknown as BilledHistory,
    metrics: async () =>
      (await viewer.get(`${team.path}/metrics?period=range&from=${ago(29)}&to=${today}`))
        .body as unknown as Metrics,
  };
}
const usage = { type: "usage", model: "gpt-5", unit_type: "input_tokens", quantity: 1 };

test("Billed history has each day until something is recorded on it, and no sum of spend or budget has it", async () => {
  const { admin, path, record, history, metrics, billId } = await withBills();
  const budget = { scope_type: "global", amount: 10 };
  expect((await admin.call("POST", `${path}/budgets`, budget)).status).toBe(201);
  const whole = await history();
  expect(whole.days.map(({ day }) => day)).toEqual(Array.from({ length: 60 }, (_, index) => ago(60 - index)));
  expect(String(whole.total_usd)).toBe(sumOf(whole.days.map(({ billed_usd: usd }) => usd)));
  expect(whole.days.every(({ is_before_recording: isBefore }) => isBefore)).toBe(true);

  await record(3, { ...usage, estimated_cost: 2 });
  await record(5, { ...usage, estimated_cost: 1 });
  const after = await history(`?from=${ago(6)}&to=${ago(1)}`);
  expect(after.days.map(({ day, is_before_recording: isBefore }) => [day, isBefore])).toEqual([
    [ago(6), true],
    [ago(4), false],
    [ago(2), false],
    [ago(1), false],
  ]);

  const recorded = await metrics();
  expect(recorded.totals.total_usd).toBe(3);
  const { budgets } = (await admin.get(`${path}/budgets`)).body as { budgets: { spent: number }[] };
  expect(budgets.length).toBe(1);
  expect(budgets[0]?.spent).toBeLessThanOrEqual(3);

  // With history, every point and the total are what was recorded, or else what was billed, day by day.
  const days = (await history()).days.map((one) => ({
    ...{ day: one.day, provider: one.provider, amount: parseDecimal(String(one.billed_usd)) },
    ...{ converted: undefined, isBefore: one.is_before_recording },
  }));
  const { metrics: shown, history: counted } = withHistory(recorded, days, undefined);
  expect(counted?.isCounted).toBe(true);
  for (const { from, total_usd: usd } of shown.series.points) {
    const own = recorded.series.points.find((point) => point.from === from)?.total_usd ?? 0;
    const billed = whole.days.find(({ day }) => day === from)?.billed_usd ?? 0;
    const isRecorded = [ago(3), ago(5)].includes(from);
    expect(toText(parseDecimal(String(textOf(usd))))).toBe(sumOf([isRecorded ? own : billed]));
  }
  expect(textOf(shown.totals.total_usd)).toBe(
    sumOf(shown.series.points.map(({ total_usd: usd }) => textOf(usd))),
  );
  expect(textOf(shown.previous?.totals.total_usd)).toBe(sumOf(days.slice(1, 31).map(({ amount }) => amount)));
  expect(withHistory(recorded, days, "off").metrics).toEqual(recorded);

  expect((await admin.call("DELETE", `${path}/bills/${billId}`)).status).toBe(200);
  expect((await history()).days).toEqual([]);
});

test("Billed history leaves out a day whose cost was recorded later, or whose difference is booked", async () => {
  const { admin, path, record, history } = await withBills();
  await record(50, { type: "expense", vendor: "OpenAI", amount: 7, provider: undefined });
  const month = ago(50).slice(0, 7);
  expect((await history()).days.filter(({ day }) => day.startsWith(month))).toEqual([]);
  const booked = { month: ago(1).slice(0, 7), project: "checkout" };
  const { status, body } = await admin.call("POST", `${path}/bill-adjustments`, booked);
  expect(status, JSON.stringify(body)).toBe(201);
  const left = (await history()).days.map(({ day }) => day.slice(0, 7));
  expect(left.filter((each) => each === booked.month)).toEqual([]);
});

/** The digits of an amount. */
function textOf(amount: unknown): string {
  const { text } = Object(amount) as { text?: string };
  return text ?? String(amount);
}
