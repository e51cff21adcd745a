import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { withCorrectingTeam } from "@/tests/helpers/corrections";
import { clientIn, expense } from "@/tests/helpers/recording";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness();
const { team, as, correct, recordWith, rows } = withCorrectingTeam(harness);

const pageOf = async (id: string) => (await as("viewer").get(`${team.path}/messages/${id}`)).body;

test("A message names the budgets that count it and what fired for them, and no other", async () => {
  const [slug, other] = [`p-${randomUUID()}`, `p-${randomUUID()}`];
  await recordWith(expense(1), slug);
  await recordWith(expense(1), other);
  const budget = async (name: string, more: object) =>
    String(
      (
        await as("owner").call("POST", `${team.path}/budgets`, {
          ...{ name, amount: 100, alert_at: { percent: [50, 90] }, ...more },
        })
      ).body.id,
    );
  const own = await budget("Own", { scope_type: "project", scope_value: slug });
  const vendor = await budget("Vendor", { scope_type: "provider", scope_value: "V", amount: 1000 });
  await budget("Other", { scope_type: "project", scope_value: other, amount: 1 });
  const id = await recordWith(expense(60), slug);
  expect(await pageOf(id)).toMatchObject({
    budgets: [
      { id: own, name: "Own" },
      { id: vendor, name: "Vendor" },
    ],
    alerts: [{ rule: "budget_threshold", subject: "Own", percent: "50", fired_at: expect.any(String) }],
  });
  await recordWith(expense(40), slug);
  const { alerts } = await pageOf(id);
  expect(alerts).toMatchObject([{ percent: "90" }, { percent: "50" }]);
  // Budgets count live messages of periods that they were there for.
  const tester = await clientIn(harness, team.workspace, { environment: "test" });
  const trial = await tester.post({ project: slug, source: "api", message: expense(9) });
  expect(await pageOf(String(trial.body.id))).toMatchObject({ budgets: [], alerts: [] });
  const earlier = { ...expense(2), occurred_at: new Date(Date.now() - 70 * 86_400_000).toISOString() };
  expect(await pageOf(await recordWith(earlier, slug))).toMatchObject({ budgets: [], alerts: [] });
});

test("A message names the alerts of its key's limit in the month in which it was recorded", async () => {
  const limited = await clientIn(harness, team.workspace, { monthly_limit: "10" });
  const { body } = await limited.post({ project: "checkout", source: "api", message: expense(9) });
  const fire = (month: string) =>
    rows(
      `insert into public.alerts (workspace_id, rule, subject_type, subject_id, period, level, details)
       values ($1, 'key_limit', 'key', $2, date_trunc('month', now() - $3::interval)::date, 'alert', '{"percent": "90"}')`,
      [team.workspace, limited.id, month],
    );
  await fire("2 months");
  expect((await pageOf(String(body.id))).alerts).toEqual([]);
  await fire("0");
  expect((await pageOf(String(body.id))).alerts).toMatchObject([{ rule: "key_limit", percent: "90" }]);
});

test("A correction says why, and so does what it voided", async () => {
  const id = await recordWith(expense(5));
  const { body } = await correct("owner", id, expense(4));
  const correction = String((body.correction as { id: string }).id);
  expect(await pageOf(correction)).toMatchObject({ corrects: id, correction_reason: "A wrong amount." });
  expect(await pageOf(id)).toMatchObject({ void_reason: "A wrong amount.", correction_reason: null });
});
