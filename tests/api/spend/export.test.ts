import { randomUUID } from "node:crypto";
import { parse } from "csv-parse/sync";
import { beforeAll, expect, test } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { exactClient } from "@/tests/helpers/ledger/client";
import { exact, show, total } from "@/tests/helpers/ledger/exact";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { addUser } from "@/tests/helpers/team";

const harness = withSharedHarness();
const baseUrl = () => harness.services[0]?.baseUrl ?? "";

let slug: string;
let workspace: string;
let token: string;
let key: ReturnType<typeof exactClient>;

beforeAll(async () => {
  slug = `w-${randomUUID()}`;
  workspace = await harness.fixtures.workspace(slug);
  key = exactClient(baseUrl(), (await harness.fixtures.key(workspace)).secret);
  token = (await addUser(harness, workspace, "viewer")).token;
  const line = { model: "m", unit_type: "requests", quantity: "2", feature: "chat" };
  const { body } = await key.bulk([
    costMessage({
      label: '=HYPERLINK("http://evil")',
      quantity: "7",
      estimated_cost: "0.000000000000000001",
    }),
    costMessage({ label: 'says "hi",\r\nüber', estimated_cost: "123456789012345.678901234567890123" }),
    {
      project: "checkout",
      source: "import",
      message: { type: "expense", vendor: "@Figma", amount: "28600", currency: "JPY" },
    },
    {
      project: "checkout",
      source: "api",
      message: {
        type: "subscription",
        vendor: "Linear",
        amount: "100",
        interval: "year",
        starts_on: "2026-01-31",
      },
    },
    {
      project: "checkout",
      source: "api",
      message: {
        type: "batch",
        provider: "openai",
        batch_id: "b",
        items: [
          { ...line, estimated_cost: "0.25" },
          { ...line, model: "n", quantity: "1e-12", estimated_cost: "0.125" },
        ],
      },
    },
    {
      project: "search",
      source: "api",
      message: { type: "allocation", from_project: "checkout", amount: "0.4" },
    },
  ]);
  expect(body.refused).toBe("0");
});

async function download(query: string, credentials = token) {
  const response = await fetch(`${baseUrl()}/api/v1/workspaces/${slug}/export?${query}`, {
    headers: { authorization: `Bearer ${credentials}` },
  });
  return { response, text: await response.text() };
}

type Row = Record<string, string>;
const read = (text: string) => parse(text, { columns: true }) as Row[];
const sumOf = (rows: Row[], column: string) => show(total(rows.map((row) => exact(row[column] ?? ""))));

test("Exports every posting to CSV with every digit, and formulas as text", async () => {
  const { response, text } = await download("period=all");
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  expect(response.headers.get("content-disposition")).toMatch(
    new RegExp(`^attachment; filename="${slug}-all-\\d{4}-\\d\\d-\\d\\d\\.csv"$`),
  );
  const named = await download("period=range&from=2020-02-01&to=2020-02-29&format=focus");
  expect(named.response.headers.get("content-disposition")).toContain(
    `"${slug}-2020-02-01-2020-02-29-focus.csv"`,
  );
  expect(text.endsWith("\r\n")).toBe(true);
  const rows = read(text);
  const { body } = await exactClient(baseUrl(), token).get(
    `/api/v1/workspaces/${slug}/activity?period=all&limit=100`,
  );
  const activity = body.activity as Row[];
  // A row of activity is a row here, but for a batch, which is as many as it has lines.
  const amounts = (row: Row) => (row.message_type === "batch" ? ["0.25", "0.125"] : [row.amount_usd]);
  expect(rows.map(({ id, part, amount_usd }) => `${id} ${part} ${amount_usd}`)).toEqual(
    activity.flatMap((row) =>
      amounts(row).map((amount, line) => `${row.id} ${Number(row.part) + line} ${amount}`),
    ),
  );
  expect(rows.map((row) => row.message_amount_usd)).toEqual(
    activity.flatMap((row) => amounts(row).map(() => row.message_amount_usd)),
  );
  expect(sumOf(rows, "line_count")).toBe(String(rows.length));
  expect(rows.filter(({ label }) => label?.startsWith("'="))).toHaveLength(1);
  expect(rows.some(({ label }) => label === 'says "hi",\r\nüber')).toBe(true);
  expect(rows.some(({ provider }) => provider === "'@Figma")).toBe(true);
  expect(rows.some((row) => row.amount_usd === "-0.4")).toBe(true);
});

/** Every column that FOCUS 1.2 makes mandatory. */
const mandatory = [
  "BilledCost BillingAccountId BillingAccountName BillingCurrency BillingPeriodEnd BillingPeriodStart ChargeCategory",
  "ChargeClass ChargeDescription ChargePeriodEnd ChargePeriodStart ContractedCost EffectiveCost InvoiceIssuerName",
  "ListCost PricingQuantity PricingUnit ProviderName PublisherName ServiceCategory ServiceName",
].flatMap((names) => names.split(" "));

test("Exports every mandatory FOCUS column and a charge per line of a batch, and sums to the metrics", async () => {
  const rows = read((await download("period=all&format=focus")).text);
  expect(Object.keys(rows[0] ?? {})).toEqual(expect.arrayContaining(mandatory));
  const nullable = ["ChargeClass", "PricingQuantity", "PricingUnit"];
  for (const row of rows) {
    for (const column of mandatory) if (!nullable.includes(column)) expect(row[column], column).not.toBe("");
    if (row.ChargeCategory !== "Adjustment") expect(row.PricingQuantity).not.toBe("");
    expect((row.BillingPeriodStart ?? "") <= (row.ChargePeriodStart ?? "")).toBe(true);
    expect((row.ChargePeriodStart ?? "") < (row.BillingPeriodEnd ?? "")).toBe(true);
  }
  // Programs that infer types take a column of whole numbers for integers, and FOCUS has decimals.
  for (const column of ["BilledCost", "ListCost", "PricingQuantity", "ConsumedQuantity"])
    for (const row of rows) expect(row[column] || "0.0", column).toMatch(/^-?\d+\.\d+$/);
  expect(new Set(rows.map((row) => `${row.PricingUnit} ${row.x_Unit}`))).toEqual(
    new Set(["Tokens input_tokens", "Requests requests", "Expenses ", "Months ", " "]),
  );
  const lines = rows.filter((row) => row.x_MessageType === "batch");
  expect(
    lines.map((row) => [row.ServiceName, row.ConsumedQuantity, row.EffectiveCost, row.x_Feature]),
  ).toEqual([
    ["m", "2.0", "0.25", "chat"],
    ["n", "0.000000000001", "0.125", "chat"],
  ]);
  const counts = (name: string) =>
    Object.fromEntries(
      [...new Set(rows.map((row) => row[name]))].map((value) => [
        value,
        rows.filter((row) => row[name] === value).length,
      ]),
    );
  expect(counts("ChargeCategory")).toEqual({ Usage: 4, Purchase: 13, Adjustment: 2 });
  const { body } = await exactClient(baseUrl(), token).get(`/api/v1/workspaces/${slug}/metrics?period=all`);
  // Totals end today; an export has the coming months of the yearly subscription, too.
  const both = [body.totals, body.booked_ahead].map((part) => exact((part as Row | null)?.total_usd ?? "0"));
  for (const column of ["BilledCost", "EffectiveCost", "ContractedCost", "ListCost"])
    expect(sumOf(rows, column), column).toBe(show(total(both)));
});

test.each(["csv", "focus"])(
  "Exports to %s the matching lines of a batch, of more lines than are read at once too",
  async (format) => {
    const items = Array.from({ length: 1_000 }, (_, index) => ({
      model: index % 2 ? "odd" : "even",
      unit_type: "requests",
      quantity: "1",
      estimated_cost: `0.${String(index).padStart(6, "0")}1`,
    }));
    const message = {
      type: "batch",
      provider: format,
      batch_id: "b",
      items,
      occurred_at: "2024-02-29T12:00:00Z",
    };
    for (let batch = 0; batch < 3; batch += 1)
      expect((await key.post({ project: "checkout", source: "api", message })).status).toBe(201);
    const range = `period=range&from=2024-02-29&to=2024-02-29&provider=${format}&format=${format}`;
    const amountsOf = async (query: string) =>
      read((await download(query)).text).map((row) => row.amount_usd ?? row.BilledCost);
    const wanted = items.map(({ estimated_cost }) => estimated_cost);
    expect(await amountsOf(range)).toEqual([...wanted, ...wanted, ...wanted]);
    const odd = wanted.filter((_, index) => index % 2);
    expect(await amountsOf(`${range}&model=odd`)).toEqual([...odd, ...odd, ...odd]);
  },
);

test("Exports each row once over several pages while others are recorded", async () => {
  const posts = Array.from({ length: 2_500 }, (_, index) =>
    costMessage({
      estimated_cost: "0.001",
      occurred_at: `2025-06-${String(1 + (index % 28)).padStart(2, "0")}T00:00:00Z`,
    }),
  );
  for (let at = 0; at < posts.length; at += 500) await key.bulk(posts.slice(at, at + 500));
  const filter = "period=range&from=2025-06-01&to=2025-06-30";
  const [{ text }] = await Promise.all([
    download(filter),
    ...[1, 14, 28].map((day) =>
      key.post(
        costMessage({
          estimated_cost: "0.5",
          occurred_at: `2025-06-${String(day).padStart(2, "0")}T12:00:00Z`,
        }),
      ),
    ),
  ]);
  const cheap = read(text).filter((row) => row.amount_usd === "0.001");
  expect(new Set(cheap.map(({ id }) => id)).size).toBe(2_500);
  expect(cheap).toHaveLength(2_500);
});

test("Answers strangers 404 and names an invalid filter", async () => {
  const stranger = apiClient(baseUrl(), null);
  expect((await stranger.get(`/api/v1/workspaces/${slug}/export`)).status).toBe(401);
  const other = await harness.fixtures.workspace();
  const outsider = (await addUser(harness, other, "owner")).token;
  const hidden = await download("", outsider);
  expect(hidden.response.status).toBe(404);
  expect(hidden.response.headers.get("content-type")).toMatch(/json/);
  const { response, text } = await download("format=xml");
  expect(response.status).toBe(400);
  expect(JSON.parse(text).issues[0].path).toBe("query.format");
});
