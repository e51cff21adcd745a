import { isAmount, type SpendAnswer } from "@/lib/contract/spend/spend-query";
import type { ExactNumber } from "@/lib/contract/values/exact-number";
import type { Display } from "@/lib/ledger/pricing/display-currency";
import { convertedAmount, pairAmounts, toConversion } from "@/lib/spend/conversion";
import type { Cells } from "./explore-queries";

/** Cells whose costs in USD are replaced by those in the other currency. */
export const toConvertedCells = ({ cells, ...counts }: Cells): Cells => ({
  ...counts,
  cells: cells.map((cell) => ({
    ...cell,
    cost: cell.converted_cost ?? "0",
    token_cost: cell.converted_token_cost,
  })),
});

type Amounts = {
  cost_usd: ExactNumber | number;
  token_cost_usd: ExactNumber | number | null;
  measured: ExactNumber | number | null;
};

const toConvertedSums = ({ cost_usd: cost, token_cost_usd: tokenCost, measured }: Amounts) => ({
  cost: convertedAmount(cost),
  token_cost: tokenCost && convertedAmount(tokenCost),
  measured: measured && convertedAmount(measured),
});

/**
 * Adds another currency to an answer: to each of its amounts, and as `converted`.
 * @param ofCurrency the answer that was made of the converted cells
 */
export function withConverted(display: Display, answer: SpendAnswer, ofCurrency: SpendAnswer): SpendAnswer {
  const paired = pairAmounts(answer, ofCurrency, isAmount(answer.measure) ? ["measured"] : []);
  return {
    ...paired,
    converted: {
      ...toConversion(display),
      totals: toConvertedSums(paired.totals),
      rows: paired.rows.groups.map(toConvertedSums),
      columns: paired.columns.groups.map(toConvertedSums),
      cells: paired.cells.map(toConvertedSums),
    },
  };
}
