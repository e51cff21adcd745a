import type { SpendAnswer, SpendGroupTotal } from "@/lib/contract/spend/spend-query";
import { ExactNumber } from "@/lib/contract/values/exact-number";

type Amount = ExactNumber | number;

const textOf = (amount: Amount) => (amount instanceof ExactNumber ? amount.text : String(amount));

/** A measure with its unit and every digit. */
function measureText(value: Amount | null, measure: SpendAnswer["measure"]): string {
  if (value === null) return "none";
  const text = textOf(value);
  if (measure === "messages" || measure === "tokens") return `${text} ${measure}`;
  return text.startsWith("-") ? `-$${text.slice(1)}` : `$${text}`;
}

const measureNames: Record<SpendAnswer["measure"], string> = {
  cost: "Cost",
  messages: "Messages",
  tokens: "Tokens",
  cost_per_message: "Cost of a message",
  cost_per_million_tokens: "Cost of a million tokens",
};

/** The most lines of an answer's text. The structured data has all. */
const maxLines = 200;

/** The answer to a spend query as text: the totals, then a line for each row, or for each cell. */
export function describeSpendAnswer({
  measure,
  from,
  to,
  totals,
  rows,
  columns,
  cells,
  converted,
}: SpendAnswer): string {
  const by = [rows.dimension, columns.dimension].filter((each) => each !== null).join(" and ");
  const nameOf = (group: SpendGroupTotal | undefined, count: number) =>
    group?.is_rest ? `the other ${count}` : (group?.name ?? "(none)");
  const lines = cells.map(({ row, column, measured }) => {
    const names = [
      ...(rows.dimension === null ? [] : [nameOf(rows.groups[row], rows.rest_count)]),
      ...(columns.dimension === null ? [] : [nameOf(columns.groups[column], columns.rest_count)]),
    ];
    return `- ${names.join(", ")}: ${measureText(measured, measure)}`;
  });
  const shown = by === "" ? [] : lines.slice(0, maxLines);
  return [
    `${measureNames[measure]} from ${from} to ${to}: ${measureText(totals.measured, measure)}; ${totals.message_count} messages, ${measureText(totals.cost_usd, "cost")}.`,
    ...(converted
      ? [
          `The cost is about ${textOf(converted.totals.cost)} ${converted.currency}, each day converted at its rate. All amounts in ${converted.currency} are in the data.`,
        ]
      : []),
    ...(shown.length > 0 ? [`By ${by}:`, ...shown] : []),
    ...(lines.length > shown.length && by !== ""
      ? [`${lines.length - shown.length} more are in the data.`]
      : []),
  ].join("\n");
}
