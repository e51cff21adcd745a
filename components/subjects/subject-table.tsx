"use client";

import { useMemo } from "react";
import { type AmountProp, exactText } from "@/components/figures/amount";
import { Count } from "@/components/figures/count";
import { formatMoney, Money } from "@/components/figures/money";
import { type ChangeView, changeColumn } from "@/components/spend/change-column";
import type { TableColumn } from "@/components/table/column";
import { DataTable } from "@/components/table/data-table";
import type { RememberedViews } from "@/components/table/view-cookie";
import { Link } from "@/components/ui/link";
import type { SubjectDimension } from "@/lib/contract/spend/subjects";
import { subjectNames } from "./subject-names";

/** One of a list, with its amounts as props. `href` is its page. */
export type SubjectView = {
  value: string;
  name: string;
  href: string;
  spent: AmountProp;
  messages: number;
  change: ChangeView | null;
};

/** What each of a kind cost in the range of the page, with how that differs; the highest spend first. */
export function SubjectTable({
  workspace,
  dimension,
  subjects,
  views,
}: {
  workspace: string;
  dimension: SubjectDimension;
  subjects: SubjectView[];
  views: RememberedViews;
}) {
  const hasChange = subjects.some(({ change }) => change !== null);
  const columns = useMemo(() => columnsOf(dimension, hasChange), [dimension, hasChange]);
  const { many, noun } = subjectNames[dimension];
  return (
    <DataTable
      id={`spend-${dimension}`}
      workspace={workspace}
      views={views}
      label={many}
      noun={noun}
      rows={subjects}
      columns={columns}
      rowId={({ value }) => value}
      initialSort={{ id: "spent", descending: true }}
      className="table-fixed"
    />
  );
}

function columnsOf(dimension: SubjectDimension, hasChange: boolean): TableColumn<SubjectView>[] {
  return [
    {
      id: "name",
      label: subjectNames[dimension].one,
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
    ...(hasChange ? [changeColumn<SubjectView>(({ change }) => change)] : []),
    {
      id: "spent",
      label: "Spent",
      kind: "usd",
      value: ({ spent }) => exactText(spent),
      text: ({ spent }) => `${formatMoney(spent)} ${exactText(spent)}`,
      cell: ({ spent }) => <Money usd={spent} figure="spent" />,
      className: "w-36 sm:w-44",
    },
  ];
}
