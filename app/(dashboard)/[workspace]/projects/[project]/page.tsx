import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { cache, Suspense } from "react";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { readPageRange } from "@/app/(dashboard)/[workspace]/page-range";
import { projectOrderOf } from "@/app/(dashboard)/[workspace]/project-order";
import { readThresholdNotes } from "@/app/(dashboard)/[workspace]/threshold-notes";
import { hrefWith, oneOf, type SearchParams } from "@/components/filters/href";
import { EnvironmentSwitch } from "@/components/filters/pickers";
import { keepRange } from "@/components/filters/range";
import { RangePicker } from "@/components/filters/range-picker";
import { RangeProblem } from "@/components/filters/range-problem";
import { ProjectActions } from "@/components/projects/project-actions";
import { PageHeader } from "@/components/shell/page-header";
import { SpendBreakdowns } from "@/components/spend/spend-breakdowns";
import { SpendOverTime } from "@/components/spend/spend-over-time";
import { SpendSkeleton } from "@/components/spend/spend-skeleton";
import { SpendStats } from "@/components/spend/spend-stats";
import { toSpendView } from "@/components/spend/spend-view";
import { Badge } from "@/components/ui/badge";
import type { RangeQuery } from "@/lib/contract/spend/ledger-query";
import type { Dimension } from "@/lib/contract/spend/metrics";
import type { Project } from "@/lib/contract/spend/projects";
import { listProjects } from "@/lib/spend/projects/service";
import { readSpendView } from "@/lib/spend/views/spend";

type Props = {
  params: Promise<{ workspace: string; project: string }>;
  searchParams: Promise<SearchParams>;
};

const chartDimensions: Dimension[] = ["model", "feature", "provider", "type"];
const breakdownDimensions: Dimension[] = ["model", "feature", "provider", "key", "user", "tag"];

/** Finds the project, once for each request: the page and its title both need it. */
const findProject = cache(async (workspace: string, slug: string) => {
  const member = await requireWorkspace(workspace);
  const { projects } = await listProjects(member.claims, workspace);
  const project = projects.find((candidate) => candidate.slug === slug);
  if (!project) notFound();
  return { ...member, projects, project };
});

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { workspace, project } = await params;
  return { title: (await findProject(workspace, project)).project.name };
}

/** The page of a project: its spend over time and by model, feature, provider and key. */
export default async function ProjectPage({ params, searchParams }: Props) {
  const { workspace: slug, project: projectSlug } = await params;
  const { workspace, profile, projects, project } = await findProject(slug, projectSlug);
  const shown = readPageRange(await searchParams, profile.shown_range);
  const path = `/${workspace.slug}/projects/${project.slug}`;
  return (
    <>
      <PageHeader
        title={project.name}
        parent={{
          href: hrefWith(`/${workspace.slug}/projects`, keepRange(shown.params), {}),
          label: "Projects",
        }}
        actions={
          <>
            {project.archived_at ? <Badge variant="outline">Archived</Badge> : null}
            <EnvironmentSwitch path={path} params={shown.params} />
            <RangePicker path={path} params={shown.params} range={shown.range} />
            {workspace.role === "viewer" ? null : (
              <ProjectActions
                workspace={workspace.slug}
                project={{ slug: project.slug, name: project.name, isArchived: project.archived_at !== null }}
              />
            )}
          </>
        }
      />
      <RangeProblem problem={shown.problem} />
      <Suspense fallback={<ProjectSkeleton />}>
        <Figures
          workspace={workspace.slug}
          project={project}
          order={projectOrderOf(projects)}
          path={path}
          search={shown.params}
          range={shown.query}
        />
      </Suspense>
    </>
  );
}

function ProjectSkeleton() {
  return (
    <div className="grid gap-8" aria-busy="true">
      <SpendSkeleton />
    </div>
  );
}

async function Figures({
  workspace,
  project,
  order,
  path,
  search,
  range,
}: {
  workspace: string;
  project: Project;
  order: string[];
  path: string;
  search: SearchParams;
  range: RangeQuery;
}) {
  const { claims, reader } = await requireWorkspace(workspace);
  const filter = {
    environment: oneOf(search, "environment", ["live", "test"]),
    project: project.slug,
  };
  const groupBy = oneOf(search, "by", chartDimensions);
  const { now, metrics } = await readSpendView(claims, workspace, {
    ...range,
    ...filter,
    group_by: groupBy,
    currency: reader.display?.currency,
  });
  const view = toSpendView(workspace, metrics, filter, order, now);
  const notes = await readThresholdNotes(claims, workspace, metrics, filter);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-8">
      <SpendStats view={view} />
      <SpendOverTime view={view} dimensions={chartDimensions} path={path} params={search} notes={notes} />
      <SpendBreakdowns view={view} dimensions={breakdownDimensions} />
    </div>
  );
}
