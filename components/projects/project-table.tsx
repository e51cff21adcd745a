"use client";

import { useMemo } from "react";
import { exactText } from "@/components/amount";
import { Sparkline } from "@/components/charts/sparkline";
import { Count } from "@/components/count";
import { formatDate } from "@/components/format-date";
import { Link } from "@/components/link";
import { formatMoney, Money } from "@/components/money";
import type { TableColumn } from "@/components/table/column";
import { DataTable } from "@/components/table/data-table";
import type { RememberedViews } from "@/components/table/view-cookie";
import type { ProjectView } from "./project-view";

/** Projects with what each cost this month, the most expensive first. */
export function ProjectTable({
  workspace,
  label,
  projects,
  views,
}: {
  workspace: string;
  label: string;
  projects: ProjectView[];
  views: RememberedViews;
}) {
  const columns = useMemo(() => columnsOf(workspace), [workspace]);
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

function columnsOf(workspace: string): TableColumn<ProjectView>[] {
  return [
    {
      id: "name",
      label: "Project",
      part: "name",
      value: ({ name }) => name,
      cell: ({ name, slug, colour, trend }) => (
        <>
          <Link
            href={`/${workspace}/projects/${slug}`}
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
          {/* A phone has no place for the column, but for a second line. */}
          <Sparkline
            shape={trend}
            colour={colour}
            className="h-5 w-full pl-5 in-data-[density=compact]:hidden md:hidden"
          />
        </>
      ),
    },
    {
      id: "trend",
      label: "Daily, this month",
      cell: ({ trend, colour }) => (
        <Sparkline shape={trend} colour={colour} className="in-data-[density=compact]:h-5" />
      ),
      from: "md",
      className: "w-44",
    },
    {
      id: "messages",
      label: "Messages",
      kind: "count",
      value: ({ month_message_count: count }) => count,
      cell: ({ slug, month_message_count: count }) => (
        <Count value={count} figure={`${slug}.month_message_count`} />
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
      from: "lg",
      className: "w-36",
      cellClassName: "whitespace-nowrap text-muted-foreground",
    },
    {
      id: "spent",
      label: "Spent this month",
      kind: "usd",
      value: ({ monthUsd }) => exactText(monthUsd),
      text: ({ monthUsd }) => `${formatMoney(monthUsd)} ${exactText(monthUsd)}`,
      cell: ({ slug, monthUsd }) => <Money usd={monthUsd} figure={`${slug}.month_usd`} />,
      className: "w-44",
    },
  ];
}
