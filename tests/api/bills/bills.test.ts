import { describe, expect, test } from "vitest";
import type { AddedBill, BillList } from "@/lib/contract/bills/bills";
import type { Reconciliation } from "@/lib/contract/bills/reconciliation";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { clientIn } from "@/tests/helpers/recording";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam } from "@/tests/helpers/team";

const harness = withSharedHarness();

async function withTeam() {
  const team = await makeTeam(harness);
  const key = await clientIn(harness, team.workspace);
  const { admin, viewer } = team.users;
  return {
    ...team,
    key,
    add: (content: string, more: object = {}, user = admin) =>
      user.call("POST", `${team.path}/bills`, { name: "october.csv", content, ...more }),
    bills: async () => (await viewer.get(`${team.path}/bills`)).body as unknown as BillList,
    reconciled: async (month = "2026-10") =>
      (await viewer.get(`${team.path}/reconciliation?month=${month}`)).body as unknown as Reconciliation,
    /** Records usage at a price of the client's own. */
    use: async (message: object) => {
      const usage = { type: "usage", provider: "openai", model: "gpt-5", unit_type: "input_tokens" };
      const recorded = { ...usage, occurred_at: "2026-10-05T10:00:00Z", ...message };
      const { status, body } = await key.post({ project: "checkout", source: "api", message: recorded });
      expect(status, JSON.stringify(body)).toBe(201);
    },
  };
}

const csv = (...rows: string[]) => ["day,model,unit,quantity,amount", ...rows].join("\n");
const openai = { constants: { provider: "OpenAI" } };
const partsOf = ({ detail }: Reconciliation) =>
  Object.fromEntries((detail?.parts ?? []).map(({ part, amount_usd: amount }) => [part, amount]));

describe("A bill", () => {
  test("is held against what was recorded, and every part has its exact amount", async () => {
    const { add, use, reconciled, workspace } = await withTeam();
    await use({ quantity: 1_000_000, estimated_cost: 1.25 });
    await use({ quantity: 2_000_000, estimated_cost: 20, unit_type: "output_tokens" });
    await use({ quantity: 5, estimated_cost: 0.5, occurred_at: "2026-10-06T10:00:00Z" });
    await use({ provider: "mistral", quantity: 5, estimated_cost: 7 });
    const { status } = await add(
      csv(
        "2026-10-05,gpt-5,input_tokens,1000000,1.25",
        "2026-10-05,gpt-5-2025-08-07,output_tokens,2000000,18.5",
        "2026-10-05,gpt-5-mini,input_tokens,400000,0.1",
        "2026-10-05,gpt-5,web_search,12,0.12",
      ),
      openai,
    );
    expect(status).toBe(201);
    const found = await reconciled();
    expect(found.months).toEqual([
      {
        month: "2026-10",
        ...{ billed_usd: 19.97, recorded_usd: 21.75, adjusted_usd: 0, difference_usd: -1.78 },
        missing_usd: 0,
        coverage_percent: 100,
        recorded_elsewhere_usd: 7,
        billed_through: "2026-10-05",
      },
    ]);
    expect(found.detail?.models.map(({ model, difference_usd: usd }) => [model, usd])).toEqual([
      ["gpt-5", -1.88],
      ["gpt-5-mini", 0.1],
    ]);
    expect(partsOf(found)).toEqual({ no_source: 0.1, no_telemetry: 0.12, price: -1.5, not_billed_yet: -0.5 });
    expect(found.detail?.units).toEqual({ billed_units: 3_400_012, recorded_units: 3_000_000 });
    expect(await ledgerDifferences(harness.fixtures, workspace)).toEqual([]);
  });

  test("names what limits refused to record, which was spent all the same", async () => {
    const { add, reconciled, workspace } = await withTeam();
    const { secret } = await harness.fixtures.key(workspace, { monthly_limit: "1" });
    const limited = apiClient(harness.services[0]?.baseUrl ?? "", secret);
    const at = { occurred_at: "2026-10-05T10:00:00Z", model: "gpt-5" };
    const spend = (usd: number) => limited.post(costMessage({ ...at, quantity: usd, estimated_cost: usd }));
    expect((await spend(1)).status).toBe(201);
    expect((await spend(3)).status).toBe(402);
    await add(csv("2026-10-05,gpt-5-2025-08-07,input_tokens,5,5"), openai);
    expect(partsOf(await reconciled())).toEqual({ no_source: 1, refused: 3 });
  });

  test("is compared by the model's name without a date, where the other side has no such name", async () => {
    const { add, use, reconciled } = await withTeam();
    await use({ quantity: 1_000, estimated_cost: 2 });
    await add(csv("2026-10-05,gpt-5-2025-08-07,input_tokens,1000,1.5"), openai);
    expect(partsOf(await reconciled())).toEqual({ price: -0.5 });
  });

  test("splits the cached part of an input from the rest, as bills do", async () => {
    const { add, use, reconciled } = await withTeam();
    await use({ model: "gpt-4o", quantity: 1_000_000, cached_quantity: 400_000 });
    await add(
      csv("2026-10-05,gpt-4o,input_tokens,600000,1.5", "2026-10-05,gpt-4o,cached_tokens,400000,0.5"),
      openai,
    );
    const found = await reconciled();
    expect(found.detail).toMatchObject({ recorded_usd: 2, difference_usd: 0, parts: [] });
    expect(found.detail?.units).toEqual({ billed_units: 1_000_000, recorded_units: 1_000_000 });
  });

  test("replaces what earlier ones said of the same days, which counts again when it is deleted", async () => {
    const { add, bills, reconciled, users, path } = await withTeam();
    const first = await add(
      csv("2026-10-05,gpt-5,input_tokens,1,4", "2026-10-06,gpt-5,input_tokens,1,6"),
      openai,
    );
    const later = await add(csv("2026-10-06,o3,input_tokens,1,5", "2026-10-07,o3,input_tokens,1,1"), openai);
    expect([first.status, later.status]).toEqual([201, 201]);
    expect((await reconciled()).months[0]?.billed_usd).toBe(10);
    const list = (await bills()).bills;
    expect(list.map(({ amount_usd, counted_usd }) => [amount_usd, counted_usd])).toEqual([
      [6, 6],
      [10, 4],
    ]);
    expect(list[0]?.changes).toMatchObject([{ from: "2026-10-06", amount_usd: 5, former_usd: 6 }]);
    const gone = await users.admin.call("DELETE", `${path}/bills/${later.body.id}`);
    expect(gone.status).toBe(200);
    expect((await reconciled()).months[0]?.billed_usd).toBe(10);
    expect((await bills()).bills.map(({ counted_usd }) => counted_usd)).toEqual([10]);
  });

  test("of another account of the same provider is added, and both are compared with the records together", async () => {
    const { add, use, reconciled } = await withTeam();
    await use({ quantity: 10, estimated_cost: 10 });
    for (const account of ["a", "b"])
      await add(`account,provider,${csv()}\n${account},openai,2026-10-05,gpt-5,input_tokens,5,5`);
    expect((await reconciled()).detail).toMatchObject({ billed_usd: 10, difference_usd: 0, parts: [] });
  });

  test("is refused where it would replace a part of the days that another one bills as a whole", async () => {
    const { add, reconciled } = await withTeam();
    await add("month,amount\n2026-10,100", openai);
    const { status, body } = await add(csv("2026-10-05,gpt-5,input_tokens,1,4"), {
      ...openai,
      name: "day.csv",
    });
    expect(status).toBe(409);
    expect(body.error_description).toMatch(
      /“october.csv” bills openai from 2026-10-01 to 2026-10-31 as a whole/,
    );
    expect((await reconciled()).months[0]?.billed_usd).toBe(100);
  });

  test("of twenty times what was recorded is doubted, as cents may be read as dollars", async () => {
    const { add, use, reconciled } = await withTeam();
    await use({ quantity: 1_000, estimated_cost: 1.25 });
    const content = csv("2026-10-05,gpt-5,input_tokens,1000,125");
    const doubted = await add(content, openai);
    expect(doubted.status).toBe(409);
    expect(doubted.body.error_description).toMatch(
      /bills \$125 of openai, and \$1.25 was recorded.*amounts_in/,
    );
    const read = await add(content, { ...openai, amounts_in: "cents" });
    expect(read.status).toBe(201);
    expect((await reconciled()).detail?.parts).toEqual([]);
    const accepted = await add(content.replace("125", "126"), { ...openai, accept_jump: true });
    expect(accepted.status).toBe(201);
  });

  test("is read without being kept by a dry run", async () => {
    const { add, bills } = await withTeam();
    const { status, body } = await add(csv("2026-10-05,gpt-5,input_tokens,1,4"), {
      ...openai,
      dry_run: true,
    });
    expect(status).toBe(201);
    expect(body as unknown as AddedBill).toMatchObject({
      ...{ id: null, amount_usd: 4, row_count: 1, unused: [] },
      columns: { day: "day", model: "model", unit: "unit", quantity: "quantity", amount: "amount" },
      periods: [
        { provider: "openai", from: "2026-10-05", to: "2026-10-05", amount_usd: 4, is_replaced: false },
      ],
    });
    expect((await bills()).bills).toEqual([]);
  });

  test("is read by admins alone, and every member sees it; a key of one project sees none", async () => {
    const { add, users, workspace, path } = await withTeam();
    for (const user of [users.member, users.viewer])
      expect((await add(csv("2026-10-05,m,input_tokens,1,4"), openai, user)).status).toBe(403);
    expect((await add(csv("2026-10-05,m,input_tokens,1,4"), openai, users.stranger)).status).toBe(404);
    expect((await add(csv("2026-10-05,m,input_tokens,1,4"), openai)).status).toBe(201);
    expect((await users.viewer.get(`${path}/bills`)).body).toMatchObject({ can_edit: false, bills: [{}] });
    const whole = await clientIn(harness, workspace, { permissions: ["read_summaries"] });
    const confined = await clientIn(harness, workspace, {
      permissions: ["read_summaries"],
      conditions: { project_slugs: ["checkout"] },
    });
    expect((await whole.get("/api/v1/reconciliation")).body).toMatchObject({ months: [{ billed_usd: 4 }] });
    expect((await confined.get("/api/v1/reconciliation?month=2026-10")).body).toEqual({
      months: [],
      detail: null,
    });
  });
});

describe("A file is refused with its line and what to do", () => {
  test.each([
    ["", /must not be empty/],
    ["day,amount\n2026-10-05,4", /No column has the provider/],
    ["day,amount,provider\n05/10/2026,4,openai", /line 2: "05\/10\/2026" is not a day/],
    ["day,amount,provider,currency\n2026-10-05,4,openai,EUR", /line 2: the currency is EUR/],
    [
      'day,amount,provider\n2026-10-05,"1,234",openai',
      /line 2: "1,234" may have a decimal point or a decimal comma/,
    ],
    ["day,amount,provider\n2026-10-05,four,openai", /line 2: "four" is not a number/],
    ["day,amount,provider\n2026-10-05,4", /line 2: the row has 2 columns/],
  ])("%j", async (content, message) => {
    const { add } = await withTeam();
    const { status, body } = await add(content);
    expect(status).toBe(400);
    expect(body.error_description).toMatch(message);
  });
});

describe("A FOCUS file", () => {
  const header =
    "BilledCost,ListCost,BillingCurrency,ChargePeriodStart,ChargePeriodEnd,ProviderName,ServiceCategory,ChargeDescription,BillingAccountId";

  test("needs no mapping; rows of other services are left out, and a list cost of 0 is no discount", async () => {
    const { add, reconciled } = await withTeam();
    const rows = [
      "9,10,USD,2026-10-05T00:00:00Z,2026-10-05T01:00:00Z,AWS,AI and Machine Learning,Claude input,111",
      "1,0,USD,2026-10-05T23:00:00Z,2026-10-06T00:00:00Z,AWS,AI and Machine Learning,Claude output,111",
      "50,50,USD,2026-10-05T00:00:00Z,2026-10-06T00:00:00Z,AWS,Compute,EC2,111",
    ];
    const { status, body } = await add([header, ...rows].join("\n"));
    expect(status, JSON.stringify(body)).toBe(201);
    expect(body).toMatchObject({ format: "focus", left_out_count: 1, left_out_usd: 50, amount_usd: 10 });
    expect(body.periods).toMatchObject([
      { provider: "aws", account: "111", from: "2026-10-05", to: "2026-10-05", amount_usd: 10 },
    ]);
    expect((await reconciled()).detail).toMatchObject({ billed_usd: 10, parts: [{ part: "unexplained" }] });
  });

  test("is refused where a charge is of two months, or not in USD", async () => {
    const { add } = await withTeam();
    const row = (text: string) => add(`${header}\n${text}`);
    const two = await row("9,10,USD,2026-10-05T00:00:00Z,2026-11-02T00:00:00Z,AWS,,x,1");
    expect(two.body.error_description).toMatch(/line 2: the charge period spans two months/);
    const euros = await row("9,10,EUR,2026-10-05T00:00:00Z,2026-10-06T00:00:00Z,AWS,,x,1");
    expect(euros.body.error_description).toMatch(/line 2: BillingCurrency is EUR/);
  });
});
