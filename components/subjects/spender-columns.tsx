import { Fragment } from "react";
import { type AmountProp, exactText } from "@/components/figures/amount";
import { Count } from "@/components/figures/count";
import { formatCount, formatNumber } from "@/components/figures/format-count";
import { formatMoney, Money } from "@/components/figures/money";
import type { TableColumn } from "@/components/table/column";
import { Link } from "@/components/ui/link";

/**
 * A person, a model, a feature or the like with what it cost. `href`: the page that its name leads to. `unpriced`: how many of its lines have no
 * price.
 */
export type Spender = { name: string; href: string; spent: AmountProp; messages: number; unpriced: number };

/** A name whose line may end after each "@", so that an address does not break within its domain. */
const breakable = (name: string) =>
  name.split(/(?<=@)/).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a name keep their places.
    <Fragment key={index}>
      {index > 0 ? <wbr /> : null}
      {part}
    </Fragment>
  ));

/** The columns of a table of spenders: the name, and how many messages name it. @param label the heading of the names */
export function nameAndMessages<Row extends Spender>(label: string): TableColumn<Row>[] {
  return [
    {
      id: "name",
      label,
      part: "name",
      value: ({ name }) => name,
      cell: ({ name, href }) => (
        <Link
          href={href}
          prefetch={false}
          className="flex min-h-8 min-w-0 items-center rounded-sm font-medium hover:underline in-data-[density=compact]:min-h-6"
        >
          <bdi className="max-sm:line-clamp-2 max-sm:[overflow-wrap:anywhere] sm:truncate" title={name}>
            {breakable(name)}
          </bdi>
        </Link>
      ),
    },
    {
      id: "messages",
      label: "Messages",
      kind: "count",
      value: ({ messages }) => messages,
      cell: ({ messages }) => <Count value={messages} />,
      from: "sm",
      className: "w-28",
      cellClassName: "text-muted-foreground",
    },
  ];
}

/** The column of what each cost. @param className its widths */
export function spentColumn<Row extends Spender>(className: string): TableColumn<Row> {
  return {
    id: "spent",
    label: "Spent",
    kind: "usd",
    value: ({ spent }) => exactText(spent),
    text: ({ spent }) => `${formatMoney(spent)} ${exactText(spent)}`,
    cell: (spender) => <Spent {...spender} />,
    className,
  };
}

/** What one cost. Lines without a price count as 0: their number is said, in the place of an amount where that is 0. */
function Spent({ spent, unpriced }: Spender) {
  const isFree = exactText(spent) === "0";
  if (unpriced <= 0) return <Money usd={spent} figure="spent" />;
  return (
    <span className="grid justify-items-end">
      {isFree ? "No price" : <Money usd={spent} figure="spent" />}
      <span className="font-normal text-muted-foreground text-xs">
        {isFree ? formatCount(unpriced, "line") : `${formatNumber(unpriced)} without a price`}
      </span>
    </span>
  );
}
