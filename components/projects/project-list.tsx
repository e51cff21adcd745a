import { Folder } from "lucide-react";
import { projectColour } from "@/components/charts/colours";
import { formatNumber } from "@/components/format-count";
import type { RememberedViews } from "@/components/table/view-cookie";
import { EmptyState } from "@/components/ui/empty-state";
import type { Project } from "@/lib/contract/projects";
import { ProjectTable } from "./project-table";
import { toProjectView } from "./project-view";

/** Projects with their spend of this month. Archived projects are folded away below. */
export function ProjectList({
  workspace,
  projects,
  trends,
  order,
  views,
}: {
  workspace: string;
  projects: Project[];
  /** What each project cost on each day of this month up to today, by its slug; USD as exact text. */
  trends: Record<string, string[]>;
  /** The slugs of all projects, the oldest first. */
  order: string[];
  views: RememberedViews;
}) {
  const listOf = (isArchived: boolean) =>
    projects
      .filter(({ archived_at: at }) => (at !== null) === isArchived)
      .map((project) => toProjectView(project, trends, projectColour(project.slug, order)));
  const archived = listOf(true);
  if (projects.length === 0) {
    return (
      <EmptyState icon={<Folder />} title="No project yet">
        The first message that names a project creates it.
      </EmptyState>
    );
  }
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-8">
      <ProjectTable workspace={workspace} views={views} label="Projects" projects={listOf(false)} />
      {archived.length > 0 ? (
        <details>
          <summary className="w-fit rounded-sm text-muted-foreground text-sm hover:text-foreground">
            {formatNumber(archived.length)} archived
          </summary>
          <ProjectTable workspace={workspace} views={views} label="Archived projects" projects={archived} />
        </details>
      ) : null}
    </div>
  );
}
