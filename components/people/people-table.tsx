"use client";

import { useMemo } from "react";
import { nameAndMessages, type Spender, spentColumn } from "@/components/subjects/spender-columns";
import type { TableColumn } from "@/components/table/column";
import { DataTable } from "@/components/table/data-table";
import type { RememberedViews } from "@/components/table/view-cookie";
import { ErasePerson } from "./erase-person";

/** The people whom usage was for, the highest spend first. `canErase`: with a button to erase each. */
export function PeopleTable({
  workspace,
  people,
  canErase,
  views,
}: {
  workspace: string;
  people: Spender[];
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

function columnsOf(workspace: string, canErase: boolean): TableColumn<Spender>[] {
  return [
    ...nameAndMessages<Spender>("Person"),
    spentColumn("w-28 sm:w-44"),
    ...(canErase
      ? [
          {
            id: "erase",
            label: "Erase",
            part: "actions" as const,
            cell: ({ name }: Spender) => <ErasePerson workspace={workspace} user={name} />,
            className: "w-20 text-right sm:w-24",
            cellClassName: "py-1.5 last:pr-0 in-data-[density=compact]:py-0",
          },
        ]
      : []),
  ];
}
