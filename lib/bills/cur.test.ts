import { expect, test } from "vitest";
import { toText } from "@/lib/decimal";
import { readBillFile } from "./read-file";

const header = [
  ...["bill_payer_account_id", "line_item_usage_start_date", "line_item_usage_end_date"],
  ...["line_item_line_item_type", "line_item_product_code", "line_item_usage_type", "line_item_usage_amount"],
  ...["line_item_currency_code", "line_item_unblended_cost", "pricing_unit", "pricing_public_on_demand_cost"],
  ...["line_item_iam_principal", "product", "line_item_line_item_description", "resource_tags", "new_column"],
];
const alice = "arn:aws:iam::123456789012:user/alice";
const edition = JSON.stringify({ product_name: "Claude Haiku 4.5 (Amazon Bedrock Edition)" });

/** A row of usage of Bedrock on 5 October, from ten to eleven. */
const row = (more: Record<string, string>): Record<string, string> => ({
  ...{ bill_payer_account_id: "111", line_item_line_item_type: "Usage" },
  ...{
    line_item_usage_start_date: "2026-10-05T10:00:00.000Z",
    line_item_usage_end_date: "2026-10-05T11:00:00.000Z",
  },
  ...{
    line_item_product_code: "AmazonBedrock",
    line_item_currency_code: "USD",
    line_item_iam_principal: alice,
  },
  ...{ pricing_unit: "1K tokens", ...more },
});
const csv = (rows: Record<string, string>[], columns = header) =>
  [columns, ...rows.map((each) => columns.map((name) => each[name] ?? ""))]
    .map((cells) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(","))
    .join("\n");
const read = (rows: Record<string, string>[], columns = header) =>
  readBillFile({ content: csv(rows, columns), encoding: "text", amounts_in: "dollars" });

test("An export of CUR 2.0 is read with models, units, tiers, callers and exact amounts; what is no AI is left out", async () => {
  const usage = (type: string, amount: string, cost: string, more = {}) =>
    row({
      line_item_usage_type: type,
      line_item_usage_amount: amount,
      line_item_unblended_cost: cost,
      ...more,
    });
  const found = await read([
    usage("USE1-Claude4.6Sonnet-input-tokens", "1234.567", "0.0000000012345678901"),
    usage("USE1-Claude4.6Sonnet-input-tokens", "1", "0.000000000000000001"),
    usage("USE1-Claude3.5Sonnet-output-tokens-batch", "2", "3", { pricing_public_on_demand_cost: "6" }),
    usage("USE1-MP:USE1_CacheReadInputTokenCount_Global-Units", "1.5", "0.15", {
      ...{ pricing_unit: "1M tokens", line_item_product_code: "8ohjmd7g22q4pyn9rmnjmzbxz", product: edition },
    }),
    usage("USE1-MP:USE1_output_tokens_standard-Units", "7", "7", {
      ...{ pricing_unit: "Units", line_item_product_code: "8ohjmd7g22q4pyn9rmnjmzbxz", product: edition },
    }),
    // A credit, and a tax of the month: amounts alone, the tax on the first day.
    usage("USE1-Claude4.6Sonnet-input-tokens", "1234", "-0.5", { line_item_line_item_type: "Credit" }),
    usage("USE1-Claude4.6Sonnet-input-tokens", "1", "0.2", {
      ...{ line_item_line_item_type: "Tax", line_item_usage_start_date: "2026-10-01T00:00:00Z" },
      line_item_usage_end_date: "2026-11-01T00:00:00Z",
    }),
    // Another service, bought for three years.
    usage("ComputeSP:3yrNoUpfront", "1", "90", {
      ...{ line_item_product_code: "ComputeSavingsPlans", line_item_usage_end_date: "2029-10-05T10:00:00Z" },
    }),
  ]);
  expect(found).toMatchObject({
    format: "cur",
    rowCount: 8,
    leftOutCount: 1,
    unused: expect.arrayContaining(["new_column"]),
  });
  expect(toText(found.leftOut)).toBe("90");
  expect(
    found.statements.map(({ provider, account, from, until }) => [provider, account, from, until]),
  ).toEqual([
    ["aws", "111", "2026-10-05", "2026-10-06"],
    ["aws", "111", "2026-10-01", "2026-10-02"],
  ]);
  const facts = found.statements.flatMap(({ facts: own }) => own);
  expect(
    facts.map(({ model, unit, tier, amount, list, quantity }) => [
      ...[model, unit, tier, toText(amount), list && toText(list), quantity && toText(quantity)],
    ]),
  ).toEqual([
    // 18 decimals are kept of each row.
    ["claude-sonnet-4-6", "input_tokens", null, "0.000000001234567891", null, "1235567"],
    ["claude-3-5-sonnet", "output_tokens", "batch", "3", "6", "2000"],
    ["claude-haiku-4-5", "cache_read_tokens", null, "0.15", null, "1500000"],
    // What "Units" are worth is not said, so they are no tokens.
    ["claude-haiku-4-5", "output_tokens", null, "7", null, null],
    ["claude-sonnet-4-6", null, null, "-0.5", null, null],
    ["claude-sonnet-4-6", null, null, "0.2", null, null],
  ]);
  expect(new Set(facts.map(({ key }) => key))).toEqual(new Set([alice]));
});

test.each([
  ["USE1-Claude4Sonnet-input-tokens", "Usage", "claude-sonnet-4", "input_tokens", "1000"],
  ["USE1-Claude3.7Sonnet-output-tokens", "DiscountedUsage", "claude-3-7-sonnet", "output_tokens", "1000"],
  ["USE1-Nova-input-tokens", "SavingsPlanCoveredUsage", "nova", "input_tokens", "1000"],
  ["USE1-Nova-input-tokens", "SavingsPlanNegation", "nova", null, null],
  ["USE1-MP:USE1_CacheWrite1hInputTokenCount-Units", "Usage", null, "cache_write_1h_tokens", "1000"],
  ["USE1-MP:USE1_CacheWrite5mInputTokenCount-Units", "Usage", null, "cache_write_5m_tokens", "1000"],
  ["USE1-MP:USE1_CacheWriteInputTokenCount-Units", "Usage", null, "cache_write_tokens", "1000"],
])(
  "The usage type %s of a line item %s has the model %s and %s",
  async (type, item, model, unit, quantity) => {
    const usage = { line_item_usage_type: type, line_item_line_item_type: item };
    const { statements } = await read([
      row({ ...usage, line_item_unblended_cost: "1", line_item_usage_amount: "1" }),
    ]);
    const [fact] = statements[0]?.facts ?? [];
    expect([fact?.model, fact?.unit, fact?.quantity && toText(fact.quantity)]).toEqual([
      model,
      unit,
      quantity,
    ]);
  },
);

test("An export of CUR 2.0 that lacks columns is refused with their names, and needs no caller", async () => {
  const one = row({ line_item_usage_type: "USE1-Nova-input-tokens", line_item_unblended_cost: "1" });
  const without = (...names: string[]) => header.filter((name) => !names.includes(name));
  await expect(read([one], without("line_item_unblended_cost", "line_item_usage_type"))).rejects.toThrow(
    /without line_item_unblended_cost, line_item_usage_type/,
  );
  const found = await read(
    [one],
    without("line_item_iam_principal", "product", "pricing_unit", "line_item_usage_amount"),
  );
  expect(found.statements[0]?.facts).toMatchObject([{ key: null, model: "nova", quantity: null }]);
  await expect(read([{ ...one, line_item_currency_code: "EUR" }])).rejects.toThrow(/EUR; bills are in USD/);
});

test("A caller is the person of a row where it is a user, and not where it is the role of a program", async () => {
  const people = await Promise.all(
    [
      alice,
      "arn:aws:iam::123456789012:user/teams/search/bob",
      "arn:aws:sts::123456789012:federated-user/cy",
      "arn:aws-us-gov:sts::123456789012:assumed-role/AWSReservedSSO_Dev_0a1b/Dee@Example.com",
      "arn:aws:sts::123456789012:assumed-role/app/i-0abcdef",
      "arn:aws:iam::123456789012:role/app",
      "",
    ].map(async (principal) => {
      const usage = { line_item_usage_type: "USE1-Nova-input-tokens", line_item_unblended_cost: "1" };
      const { statements } = await read([row({ ...usage, line_item_iam_principal: principal })]);
      return statements[0]?.facts[0]?.user;
    }),
  );
  expect(people).toEqual(["alice", "bob", "cy", "dee@example.com", null, null, null]);
});

test("A tag in JSON is the key of the rows that have it, however the other rows write none", async () => {
  const usage = (tags: string) =>
    row({
      ...{ line_item_usage_type: "USE1-Claude4.6Sonnet-input-tokens", line_item_usage_amount: "1" },
      ...{ line_item_unblended_cost: "1", resource_tags: tags },
    });
  const content = csv([
    usage('{"user_team":"search","x":"y"}'),
    usage("{}"),
    usage(""),
    usage("[1"),
    usage("null"),
  ]);
  const given = { content, encoding: "text", amounts_in: "dollars" } as const;
  const { columns, statements } = await readBillFile({
    ...given,
    columns: { key: "resource_tags.user_team" },
  });
  expect(columns.key).toBe("resource_tags.user_team");
  expect(statements.flatMap(({ facts }) => facts.map(({ key, amount }) => [key, toText(amount)]))).toEqual([
    ["search", "1"],
    [alice, "4"],
  ]);
  await expect(readBillFile({ ...given, columns: { key: "Tags.team" } })).rejects.toMatchObject({
    code: "validation_failed",
  });
});
