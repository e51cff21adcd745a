import { createHash } from "node:crypto";
import type { ClientBase } from "pg";
import { dayOf } from "@/lib/contract/values/instant";
import { monthOf } from "@/lib/contract/values/month";
import { type Decimal, multiply, parseDecimal, roundTo, zero } from "@/lib/decimal";
import { addBill, selectUsed } from "./bill-queries";
import { dollars } from "./money";
import { firstDayAfter } from "./read-row";
import { toStored } from "./service";
import { type BilledRow, toStatements } from "./statements";

const dayMs = 86_400_000;

const billedProviders = ["anthropic", "openai"];

/**
 * Adds the bills of two providers to the demo workspace, of the last month and of this one up to two days ago. They differ from what was
 * recorded in ways that the page explains: usage that no source reports, a discount, a batch tier, another price, web searches, days
 * that are not billed yet, and a credit.
 * @param client has the claims of an admin of the workspace
 */
export async function addDemoBills(client: ClientBase, workspaceId: string, now: number): Promise<void> {
  const thisMonth = monthOf(now).from.slice(0, 7);
  const lastMonth = dayOf(Date.parse(`${thisMonth}-01`) - dayMs).slice(0, 7);
  const billedUntil = dayOf(now - 2 * dayMs);
  for (const month of [lastMonth, thisMonth]) {
    const end = firstDayAfter(month);
    const [until = end] = [end, billedUntil].sort();
    for (const provider of billedProviders) {
      const rows = await billedRows(client, workspaceId, provider, `${month}-01`, until);
      if (rows.length === 0) continue;
      const content = JSON.stringify(rows);
      const file = {
        format: "csv" as const,
        sha256: createHash("sha256").update(content).digest("hex"),
        ...{ rowCount: rows.length, leftOutCount: 0, leftOut: zero },
        statements: toStatements(rows),
      };
      await addBill(client, workspaceId, toStored(`${provider}-costs-${month}.csv`, file));
    }
  }
}

/** What a provider bills of what was recorded, from a day to before another. */
async function billedRows(
  client: ClientBase,
  workspaceId: string,
  provider: string,
  from: string,
  until: string,
): Promise<BilledRow[]> {
  const used = await selectUsed(client, workspaceId, from, until, [provider]);
  const rows: BilledRow[] = [];
  for (const { day, model, unit, amount_usd, quantity } of used) {
    const row = {
      ...{ provider, account: "", from: day, until: dayOf(Date.parse(day) + dayMs) },
      ...{ line: null, model, unit, tier: null, key: "prod", user: null, list: null },
      amount: money(parseDecimal(amount_usd)),
      quantity: quantity === null ? null : parseDecimal(quantity),
    };
    rows.push({ ...row, ...changeOf(model, row.amount) });
    const date = Number(day.slice(8));
    if (model === "claude-sonnet-4-5" && date % 4 === 0)
      rows.push({ ...row, key: "prod-ingest", ...scaled(row, "0.6") });
    if (model === "gpt-4o" && unit === "output_tokens" && date % 7 === 1) {
      const searches = { unit: "web_searches", quantity: parseDecimal(40), amount: dollars("0.4") };
      rows.push({ ...row, ...searches, line: "Web search tool calls" });
    }
    if (provider === "openai" && model === "gpt-4.1" && unit === "output_tokens" && date === 15)
      rows.push({
        ...row,
        line: "Credit for an incident",
        model: null,
        unit: null,
        quantity: null,
        amount: dollars("-2.5"),
      });
  }
  return rows;
}

/** How the bill of a model differs: a discount of 15 %, the half price of a batch, or a price that is a tenth higher. */
function changeOf(model: string | null, amount: Decimal): Partial<BilledRow> {
  if (model === "gpt-4.1") return { list: amount, amount: money(amount, "0.85") };
  if (model === "o3") return { tier: "batch", amount: money(amount, "0.5") };
  if (model === "claude-opus-4-1") return { amount: money(amount, "1.1") };
  return {};
}

const scaled = ({ amount, quantity }: Pick<BilledRow, "amount" | "quantity">, by: string) => ({
  amount: money(amount, by),
  quantity: quantity && roundTo(multiply(quantity, parseDecimal(by)), 0, "nearest"),
});

const money = (amount: Decimal, by = "1") =>
  dollars(String(roundTo(multiply(amount, parseDecimal(by)), 8, "nearest")));
