"use client";

import { useMemo } from "react";
import { Sparkline } from "@/components/charts/sparkline";
import { exactText } from "@/components/figures/amount";
import { Count } from "@/components/figures/count";
import { formatDate } from "@/components/figures/format-date";
import { formatPercent } from "@/components/figures/format-percent";
import { formatMoney, Money } from "@/components/figures/money";
import { changeColumn } from "@/components/spend/change-column";
import { secondLine, type TableColumn } from "@/components/table/column";
import { DataTable } from "@/components/table/data-table";
import type { RememberedViews } from "@/components/table/view-cookie";
import { Link } from "@/components/ui/link";
import { Meter } from "@/components/ui/meter";
import type { ProjectView } from "./project-view";

/**
 * Projects with what each cost in the range of the page, the most expensive first.
 * @param props.bucket the length of the buckets of the trend
 */
export function ProjectTable({
  workspace,
  label,
  projects,
  bucket,
  views,
}: {
  workspace: string;
  label: string;
  projects: ProjectView[];
  bucket: "day" | "month";
  views: RememberedViews;
}) {
  const hasChange = projects.some(({ change }) => change !== null);
  const hasBudget = projects.some(({ budget }) => budget !== null);
  const columns = useMemo(
    () => columnsOf(workspace, bucket, { hasChange, hasBudget }),
    [workspace, bucket, hasChange, hasBudget],
  );
  return (
    <DataTable
      id="projects"
      workspace={workspace}
      views={views}
      label={label}
      noun="project"
      rows={projects}
      columns={columns}
      rowId={({ slug }) => slug}
      initialSort={{ id: "spent", descending: true }}
      className="table-fixed"
    />
  );
}

function columnsOf(
  workspace: string,
  bucket: "day" | "month",
  { hasChange, hasBudget }: { hasChange: boolean; hasBudget: boolean },
): TableColumn<ProjectView>[] {
  return [
    {
      id: "name",
      label: "Project",
      part: "name",
      value: ({ name }) => name,
      cell: ({ name, href, colour, trend }) => (
        <>
          <Link
            href={href}
            className="flex min-h-8 min-w-0 items-center gap-2.5 rounded-sm font-medium hover:underline in-data-[density=compact]:min-h-6"
          >
            <span
              aria-hidden="true"
              className="size-2.5 shrink-0 rounded-[3px]"
              style={{ background: colour }}
            />
            <bdi className="truncate" title={name}>
              {name}
            </bdi>
          </Link>
          {/* A narrow page has no space for the column of trends, so the trend is on a second line. */}
          <Sparkline
            shape={trend}
            colour={colour}
            className="h-5 w-full pl-5 in-data-[density=compact]:hidden xl:hidden"
          />
        </>
      ),
    },
    {
      id: "trend",
      label: bucket === "day" ? "By day" : "By month",
      cell: ({ trend, colour }) => (
        <Sparkline shape={trend} colour={colour} className="in-data-[density=compact]:h-5" />
      ),
      from: "xl",
      className: "w-36",
    },
    {
      id: "messages",
      label: "Messages",
      kind: "count",
      value: ({ range_message_count: count }) => count,
      cell: ({ slug, range_message_count: count }) => (
        <Count value={count} figure={`${slug}.range_message_count`} />
      ),
      from: "sm",
      className: "w-28",
      cellClassName: "text-muted-foreground",
    },
    {
      id: "last_occurred",
      label: "Last occurred",
      kind: "time",
      value: ({ last_activity_on: day }) => day,
      cell: ({ last_activity_on: day }) => (day ? formatDate(day) : "never"),
      from: "xl",
      className: "w-32",
      cellClassName: "whitespace-nowrap text-muted-foreground",
    },
    ...(hasBudget ? [budgetColumn(workspace)] : []),
    ...(hasChange ? [changeColumn<ProjectView>(({ change }) => change)] : []),
    {
      id: "spent",
      label: "Spent",
      kind: "usd",
      value: ({ rangeUsd }) => exactText(rangeUsd),
      text: ({ rangeUsd }) => `${formatMoney(rangeUsd)} ${exactText(rangeUsd)}`,
      cell: ({ slug, rangeUsd }) => <Money usd={rangeUsd} figure={`${slug}.range_usd`} />,
      className: "w-40",
    },
  ];
}

/** The column that shows how much of its budget a project has used. */
function budgetColumn(workspace: string): TableColumn<ProjectView> {
  return {
    id: "budget",
    label: "Budget",
    kind: "decimal",
    value: ({ budget }) => budget?.used ?? null,
    text: ({ budget }) => (budget ? `${formatPercent(budget.used)} ${budget.name}` : ""),
    cell: ({ budget }) =>
      budget ? (
        <span className="ml-auto grid w-16 gap-1">
          <Link
            href={`/${workspace}/budgets#budget-${budget.id}`}
            prefetch={false}
            title={budget.name}
            className="rounded-sm hover:underline"
          >
            {formatPercent(budget.used)}
          </Link>
          <Meter fraction={Number(budget.used)} label={`${budget.name}, used`} className={secondLine} />
        </span>
      ) : null,
    cellProps: ({ budget }) => ({ "data-exact": budget?.used ?? "" }),
    from: "md",
    className: "w-24",
  };
}
