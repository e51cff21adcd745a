"use client";

import { useMemo } from "react";
import { type AmountProp, exactText } from "@/components/figures/amount";
import { Count } from "@/components/figures/count";
import { formatMoney, Money } from "@/components/figures/money";
import type { TableColumn } from "@/components/table/column";
import { DataTable } from "@/components/table/data-table";
import type { RememberedViews } from "@/components/table/view-cookie";
import { Link } from "@/components/ui/link";
import { ErasePerson } from "./erase-person";

/** A person whom usage was for, with their live spend as a prop. `href` is their activity. */
export type PersonView = { name: string; href: string; spent: AmountProp; messages: number };

/** The people whom usage was for, the highest spend first. `canErase`: with a button to erase each. */
export function PeopleTable({
  workspace,
  people,
  canErase,
  views,
}: {
  workspace: string;
  people: PersonView[];
  canErase: boolean;
  views: RememberedViews;
}) {
  const columns = useMemo(() => columnsOf(workspace, canErase), [workspace, canErase]);
  return (
    <DataTable
      id="people"
      workspace={workspace}
      views={views}
      label="People"
      noun="person"
      rows={people}
      columns={columns}
      rowId={({ name }) => name}
      initialSort={{ id: "spent", descending: true }}
      className="table-fixed"
    />
  );
}

function columnsOf(workspace: string, canErase: boolean): TableColumn<PersonView>[] {
  return [
    {
      id: "name",
      label: "Person",
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
    {
      id: "spent",
      label: "Spent",
      kind: "usd",
      value: ({ spent }) => exactText(spent),
      text: ({ spent }) => `${formatMoney(spent)} ${exactText(spent)}`,
      cell: ({ spent }) => <Money usd={spent} figure="spent" />,
      className: "w-28 sm:w-44",
    },
    ...(canErase
      ? [
          {
            id: "erase",
            label: "Erase",
            part: "actions" as const,
            cell: ({ name }: PersonView) => <ErasePerson workspace={workspace} user={name} />,
            className: "w-20 text-right sm:w-24",
            cellClassName: "py-1.5 last:pr-0 in-data-[density=compact]:py-0",
          },
        ]
      : []),
  ];
}
