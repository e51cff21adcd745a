import type { z } from "zod";
import { projectColour } from "@/components/charts/colours";
import { exactText, toNumber } from "@/components/figures/amount";
import { formatNumber } from "@/components/figures/format-count";
import { formatDate } from "@/components/figures/format-date";
import { hrefWith, type SearchParams } from "@/components/filters/href";
import { keepRange, type PageRange } from "@/components/filters/range";
import { toChangeView } from "@/components/spend/change-column";
import { describeStretch } from "@/components/spend/period-labels";
import type { RememberedViews } from "@/components/table/view-cookie";
import type { budget as budgetSchema } from "@/lib/contract/spend/budgets";
import type { ChangesOfProjects } from "@/lib/contract/spend/subjects";
import { ProjectTable } from "./project-table";
import { type ListedProject, type ProjectView, toProjectView } from "./project-view";

type Budget = z.output<typeof budgetSchema>;

/** Projects with their spend in a range, also those without any. Archived projects are folded away below. */
export function ProjectList({
  workspace,
  projects,
  trends,
  changes,
  budgets,
  range,
  params,
  order,
  views,
}: {
  workspace: string;
  projects: ListedProject[];
  /** What each project cost in each day or month of the range up to today, by its slug; USD as exact text. */
  trends: { bucket: "day" | "month"; of: Record<string, string[]> };
  changes: ChangesOfProjects;
  /** The budgets of projects. */
  budgets: Budget[];
  range: PageRange;
  /** The parameters of the page's address. Links to the pages of projects keep its range. */
  params: SearchParams;
  /** The slugs of all projects, the oldest first. */
  order: string[];
  views: RememberedViews;
}) {
  const listOf = (isArchived: boolean) =>
    projects
      .filter(({ archived_at: at }) => (at !== null) === isArchived)
      .map((project) =>
        toProjectView(project, {
          href: hrefWith(`/${workspace}/projects/${project.slug}`, keepRange(params), {}),
          trend: trends.of[project.slug] ?? [],
          change: toChangeView(changes.of[project.slug] ?? null),
          budget: worstOf(budgets.filter(({ scope }) => scope.value === project.slug)),
          colour: projectColour(project.slug, order),
        }),
      );
  const archived = listOf(true);
  const table = { workspace, views, bucket: trends.bucket };
  const hasSpend = projects.some(
    ({ range_usd: usd, range_message_count: count }) => count > 0 || exactText(usd) !== "0",
  );
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-8">
      {changes.compared && hasSpend ? (
        <p className="-mb-4 text-muted-foreground text-sm">
          Change: against {describeStretch(changes.compared, range.today)}.
        </p>
      ) : null}
      {hasSpend ? null : <p className="text-muted-foreground text-sm">{nothingSpent(range)}</p>}
      <ProjectTable {...table} label="Projects" projects={listOf(false)} />
      {archived.length > 0 ? (
        <details>
          <summary className="w-fit rounded-sm text-muted-foreground text-sm hover:text-foreground">
            {formatNumber(archived.length)} archived
          </summary>
          <ProjectTable {...table} label="Archived projects" projects={archived} />
        </details>
      ) : null}
    </div>
  );
}

/** The most used of several budgets. */
function worstOf(budgets: Budget[]): ProjectView["budget"] {
  const [worst] = [...budgets].sort((a, b) => toNumber(b.percent_used) - toNumber(a.percent_used));
  return worst ? { id: worst.id, name: worst.name, used: exactText(worst.percent_used) } : null;
}

/** "Nothing was spent from Nov 1, 2026 to Nov 23, 2026.": a range that has begun counts up to today. */
function nothingSpent({ from, to, today }: PageRange): string {
  if (from === null || to === null) return "Nothing was spent yet.";
  const last = from <= today && today < to ? today : to;
  return from === last
    ? `Nothing was spent on ${formatDate(from)}.`
    : `Nothing was spent from ${formatDate(from)} to ${formatDate(last)}.`;
}
