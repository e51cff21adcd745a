"use client";

import { useMemo } from "react";
import { formatDay } from "@/components/figures/format-date";
import { formatPercent } from "@/components/figures/format-percent";
import { Money } from "@/components/figures/money";
import { secondLine, type TableColumn } from "@/components/table/column";
import { DataTable } from "@/components/table/data-table";
import type { RememberedViews } from "@/components/table/view-cookie";
import { Link } from "@/components/ui/link";
import { Meter } from "@/components/ui/meter";
import { BudgetActions } from "./budget-actions";
import { StateBadge } from "./budget-badge";
import type { BudgetRow } from "./budget-row";

/** Budgets as a table, the most used first. The budgets' cards show more details. */
export function BudgetTable({
  budgets,
  workspace,
  canEdit,
  views,
}: {
  budgets: BudgetRow[];
  workspace: string;
  canEdit: boolean;
  views: RememberedViews;
}) {
  const columns = useMemo(() => columnsOf(workspace, canEdit), [workspace, canEdit]);
  return (
    <DataTable
      id="budgets"
      workspace={workspace}
      views={views}
      label="Budgets"
      noun="budget"
      rows={budgets}
      columns={columns}
      rowId={({ id }) => id}
      initialSort={{ id: "used", descending: true }}
    />
  );
}

function columnsOf(workspace: string, canEdit: boolean): TableColumn<BudgetRow>[] {
  const columns: TableColumn<BudgetRow>[] = [
    {
      id: "name",
      label: "Budget",
      part: "name",
      value: ({ name }) => name,
      alsoSaved: [
        { label: "Covers", value: ({ scope }) => scope },
        { label: "Period", value: ({ period }) => period },
        { label: "Warns", value: ({ warns }) => warns.replace(/^Warns /, "") },
        { label: "Limits at providers", value: ({ limits }) => limits },
        { label: "At the limit", value: ({ blocks }) => (blocks ? "refuses to record" : "warns only") },
      ],
      text: ({ name, scope, period, blocks, warns }) =>
        `${name} ${scope} ${period} ${blocks ? "refuses to record" : "warns only"} ${warns}`,
      cell: ({ name, scope, period, blocks, used, alert, warns, limits }) => (
        <>
          <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
            <bdi className="font-medium [overflow-wrap:anywhere]">{name}</bdi>
            <StateBadge budget={{ percent_used: used, blocks, alert }} />
          </span>
          <span className={`block text-muted-foreground text-xs [overflow-wrap:anywhere] ${secondLine}`}>
            {scope} · {period} · {blocks ? "Refuses to record" : "Warns only"} · {warns}
            {limits === "" ? null : ` · ${limits}`}
          </span>
        </>
      ),
      className: "w-full min-w-32",
    },
    {
      id: "spent",
      label: "Spent",
      kind: "usd",
      value: ({ spent }) => spent,
      alsoSaved: [{ label: "Held", kind: "usd", value: ({ held }) => held }],
      cell: ({ spent, held, href }) => (
        <>
          <Link href={href} prefetch={false} className="rounded-sm underline-offset-4 hover:underline">
            <Money usd={spent} figure="spent" />
          </Link>
          {held === "0" ? null : (
            <span className={`block text-muted-foreground text-xs ${secondLine}`}>
              <Money usd={held} figure="held_usd" /> held
            </span>
          )}
        </>
      ),
      className: "whitespace-nowrap",
    },
    {
      id: "amount",
      label: "Limit",
      kind: "usd",
      value: ({ amount }) => amount,
      cell: ({ amount }) => <Money usd={amount} figure="amount" />,
      from: "sm",
      className: "whitespace-nowrap",
    },
    {
      id: "used",
      label: "Used",
      kind: "decimal",
      value: ({ used }) => used,
      text: ({ used }) => formatPercent(used),
      cell: ({ used, name }) => (
        <span className="ml-auto grid w-14 gap-1">
          {formatPercent(used)}
          <Meter fraction={Number(used)} label={`${name}, used`} className={secondLine} />
        </span>
      ),
      cellProps: ({ used }) => ({ "data-figure": "percent_used", "data-exact": used }),
    },
    {
      id: "remaining",
      label: "Left",
      kind: "usd",
      value: ({ remaining }) => remaining,
      cell: ({ remaining }) => (
        <Money
          usd={remaining}
          figure="remaining"
          className={remaining.startsWith("-") ? "text-destructive" : ""}
        />
      ),
      from: "md",
      className: "whitespace-nowrap",
    },
    {
      id: "forecast",
      label: "Forecast",
      kind: "usd",
      value: ({ forecast }) => forecast,
      cell: ({ forecast }) =>
        forecast === null ? (
          <span className="text-muted-foreground">–</span>
        ) : (
          <Money usd={forecast} figure="forecast" />
        ),
      from: "lg",
      className: "whitespace-nowrap",
    },
    {
      id: "runs_out",
      label: "Used up on",
      kind: "time",
      value: ({ runsOutOn: day }) => day,
      cell: ({ runsOutOn: day }) =>
        day === null ? <span className="text-muted-foreground">–</span> : formatDay(day),
      from: "lg",
      className: "whitespace-nowrap",
    },
  ];
  if (!canEdit) return columns;
  return [
    ...columns,
    {
      id: "actions",
      label: "Actions",
      part: "actions",
      cell: ({ editable }) => (
        // The menu's button is moved outwards, to the corner of a card.
        <div className="mt-1.5 mr-1.5">
          <BudgetActions workspace={workspace} budget={editable} />
        </div>
      ),
      className: "w-9 px-0",
      cellClassName: "py-1.5 in-data-[density=compact]:py-0",
    },
  ];
}
