import { type AmountProp, asProp, exactText } from "@/components/figures/amount";
import { Delta, growthOf, wholePercent } from "@/components/figures/delta";
import { formatExactUsd } from "@/components/figures/format-money";
import { formatSignedMoney, shownNumber } from "@/components/figures/money";
import type { TableColumn } from "@/components/table/column";
import type { SubjectSpend } from "@/lib/contract/spend/subjects";

/** How a cost differs from that of the days compared with, with amounts as props. */
export type ChangeView = { before: AmountProp; difference: AmountProp; isNew: boolean };

/** Converts a change of an answer to a prop; null if nothing is compared. */
export function toChangeView(change: SubjectSpend["change"]): ChangeView | null {
  if (!change) return null;
  const { before, difference, isNew } = change;
  return { before: asProp(before), difference: asProp(difference), isNew };
}

/** The column with the difference of each row's cost to that of the days compared with. */
export function changeColumn<Row>(changeOf: (row: Row) => ChangeView | null): TableColumn<Row> {
  return {
    id: "change",
    label: "Change",
    kind: "usd",
    value: (row) => exactText(changeOf(row)?.difference ?? "0"),
    text: (row) => {
      const change = changeOf(row);
      return change ? `${change.isNew ? "new " : ""}${formatSignedMoney(change.difference)}` : "";
    },
    cell: (row) => {
      const change = changeOf(row);
      return change ? <Change change={change} /> : null;
    },
    cellProps: (row) => ({
      "data-figure": "change",
      "data-exact": exactText(changeOf(row)?.difference ?? "0"),
    }),
    // A phone has space only for the amount.
    from: "sm",
    className: "w-40",
    cellClassName: "whitespace-nowrap",
  };
}

function Change({ change: { before, difference, isNew } }: { change: ChangeView }) {
  if (isNew) return <Delta fraction={null} />;
  if (Number(exactText(difference)) === 0) return <Delta fraction={0} />;
  const growth = growthOf(shownNumber(before) + shownNumber(difference), shownNumber(before));
  const text = formatSignedMoney(difference);
  // If the percentage rounds to zero, only the difference is shown, not "unchanged".
  const hasPercent = growth !== null && wholePercent(growth) !== 0;
  return (
    <span title={formatExactUsd(exactText(difference))}>
      {`${text} `}
      {hasPercent ? <Delta fraction={growth} /> : null}
    </span>
  );
}
