import { beforeEach, describe, expect, test } from "vitest";
import { blockingBudgetsOf } from "@/tests/helpers/blocking-budgets";
import { clientIn } from "@/tests/helpers/recording";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam, type Team } from "@/tests/helpers/team";

const harness = withSharedHarness();

let team: Team;
let key: Awaited<ReturnType<typeof clientIn>>;

beforeEach(async () => {
  team = await makeTeam(harness);
  key = await clientIn(harness, team.workspace);
});

const { create, edit, read } = blockingBudgetsOf(() => team);

describe("A budget in another currency", () => {
  test("Has a limit in USD at the ledger's own rate, and blocks at it", async () => {
    const expense = await key.post({
      project: "checkout",
      source: "api",
      message: { type: "expense", vendor: "v", amount: 10, currency: "EUR" },
    });
    const { id } = await create({ amount: 20, currency: "EUR", raise: { amount: 30, until: "2999-01-01" } });
    const usd = Number(expense.body.amount_usd);
    expect(await read(id)).toMatchObject({
      currency: "EUR",
      usual_amount: 20,
      raise: { amount: 30, until: "2999-01-01" },
      spent: usd,
      blocks: true,
    });
    const body = await read(id);
    expect(Number(body.amount)).toBeCloseTo(3 * usd, 12);
    await edit(id, { raise: null });
    expect(Number((await read(id)).amount)).toBeCloseTo(2 * usd, 12);
    const more = (amount: number) =>
      key.post({
        project: "checkout",
        source: "api",
        message: { type: "expense", vendor: "v", amount, currency: "EUR" },
      });
    expect((await more(10.01)).status).toBe(402);
    expect((await more(10)).status).toBe(201);
    expect(await read(id)).toMatchObject({ remaining: 0, percent_used: 1, alert: true });
  });

  test.each<[string, Record<string, unknown>, string]>([
    ["no currency", { currency: "EURO" }, "currency"],
    ["an unknown one", { currency: "ZZZ" }, "currency"],
    ["one without a rate", { currency: "XXX" }, "currency"],
    ["more decimals than it has", { currency: "JPY", amount: 10.5 }, "amount"],
    [
      "a raise of more decimals",
      { currency: "JPY", amount: 10, raise: { amount: 20.5, until: "2999-01-01" } },
      "raise.amount",
    ],
  ])("Refuses %s, and names the field", async (_, body, path) => {
    const answer = await team.users.admin.call("POST", `${team.path}/budgets`, {
      scope_type: "global",
      amount: 1,
      ...body,
    });
    expect([answer.status, answer.body.error]).toEqual([400, "validation_failed"]);
    expect((answer.body.issues as { path: string }[])[0]?.path).toBe(path);
  });
});
