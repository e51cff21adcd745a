"use client";

import { useMemo } from "react";
import { type ChangeView, changeColumn } from "@/components/spend/change-column";
import type { TableColumn } from "@/components/table/column";
import { DataTable } from "@/components/table/data-table";
import type { RememberedViews } from "@/components/table/view-cookie";
import type { SubjectDimension } from "@/lib/contract/spend/subjects";
import { nameAndMessages, type Spender, spentColumn } from "./spender-columns";
import { subjectNames } from "./subject-names";

/** A subject of a list, with its amounts as props. */
export type SubjectView = Spender & { value: string; change: ChangeView | null };

/** What each subject of a kind cost in the range of the page and how that differs, the highest spend first. */
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
    ...nameAndMessages<SubjectView>(subjectNames[dimension].one),
    ...(hasChange ? [changeColumn<SubjectView>(({ change }) => change)] : []),
    spentColumn("w-36 sm:w-44"),
  ];
}
