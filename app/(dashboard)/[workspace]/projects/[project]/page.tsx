import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { cache, Suspense } from "react";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { clockNow, readPageRange, readRememberedRange } from "@/app/(dashboard)/[workspace]/page-range";
import { SubjectFigures } from "@/app/(dashboard)/[workspace]/subject-figures";
import { environments, hrefWith, type SearchParams } from "@/components/filters/href";
import { EnvironmentSwitch } from "@/components/filters/pickers";
import { keepRange } from "@/components/filters/range";
import { RangePicker } from "@/components/filters/range-picker";
import { ChoiceProblem, RangeProblem } from "@/components/filters/range-problem";
import { ProjectActions } from "@/components/projects/project-actions";
import { PageHeader } from "@/components/shell/page-header";
import { SpendSkeleton } from "@/components/spend/spend-skeleton";
import { stackedBeside } from "@/components/subjects/subject-names";
import { Badge } from "@/components/ui/badge";
import { listProjects } from "@/lib/spend/projects/service";

type Props = {
  params: Promise<{ workspace: string; project: string }>;
  searchParams: Promise<SearchParams>;
};

/** Finds the project, once for each request: the page and its title both need it. */
const findProject = cache(async (workspace: string, slug: string) => {
  const member = await requireWorkspace(workspace);
  const { projects } = await listProjects(member.claims, workspace);
  const project = projects.find((candidate) => candidate.slug === slug);
  if (!project) notFound();
  return { ...member, project };
});

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { workspace, project } = await params;
  return { title: (await findProject(workspace, project)).project.name };
}

/** The page of a project: `SubjectPage`, with the actions of a project. */
export default async function ProjectPage({ params, searchParams }: Props) {
  const { workspace: slug, project: projectSlug } = await params;
  const { workspace, project } = await findProject(slug, projectSlug);
  const shown = readPageRange(await searchParams, await readRememberedRange(), clockNow(workspace));
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
      <ChoiceProblem
        params={shown.params}
        choices={{ environment: environments, by: stackedBeside("project") }}
      />
      <Suspense fallback={<ProjectSkeleton />}>
        <SubjectFigures
          workspace={workspace.slug}
          subject={{ dimension: "project", value: project.slug }}
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
