import { type AmountProp, exactText } from "@/components/figures/amount";
import { Count } from "@/components/figures/count";
import { formatMoney, Money } from "@/components/figures/money";
import type { TableColumn } from "@/components/table/column";
import { Link } from "@/components/ui/link";

/** A person, a model, a feature or the like with what it cost. `href`: the page that its name leads to. */
export type Spender = { name: string; href: string; spent: AmountProp; messages: number };

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
            {name}
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
    cell: ({ spent }) => <Money usd={spent} figure="spent" />,
    className,
  };
}
