import { Folder } from "lucide-react";
import type { Metadata } from "next";
import { Suspense } from "react";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { clockNow, readPageRange, readRememberedRange } from "@/app/(dashboard)/[workspace]/page-range";
import { readRememberedViews } from "@/app/(dashboard)/[workspace]/remembered-views";
import type { SearchParams } from "@/components/filters/href";
import { RangePicker } from "@/components/filters/range-picker";
import { RangeProblem } from "@/components/filters/range-problem";
import { ProjectList } from "@/components/projects/project-list";
import { ProjectListSkeleton } from "@/components/projects/project-list-skeleton";
import { PageHeader } from "@/components/shell/page-header";
import { AddSourceLink } from "@/components/sources/add-source-link";
import { SubjectKinds } from "@/components/subjects/subject-kinds";
import { EmptyState } from "@/components/ui/empty-state";
import type { Project } from "@/lib/contract/spend/projects";
import { listSpendOfProjects } from "@/lib/spend/projects/service";

type Props = { params: Promise<{ workspace: string }>; searchParams: Promise<SearchParams> };

export const metadata: Metadata = { title: "Projects" };

/** All projects of a workspace with their spend in a range, how it differs, and their budgets. */
export default async function ProjectsPage({ params, searchParams }: Props) {
  const { workspace } = await requireWorkspace((await params).workspace);
  const shown = readPageRange(await searchParams, await readRememberedRange(), clockNow(workspace));
  const path = `/${workspace.slug}/projects`;
  return (
    <>
      <PageHeader
        title="Projects"
        actions={<RangePicker path={path} params={shown.params} range={shown.range} />}
      />
      <RangeProblem problem={shown.problem} />
      <SubjectKinds workspace={workspace.slug} current="project" params={shown.params} />
      <Suspense fallback={<ProjectListSkeleton />}>
        <Projects slug={workspace.slug} shown={shown} />
      </Suspense>
    </>
  );
}

async function Projects({ slug, shown }: { slug: string; shown: ReturnType<typeof readPageRange> }) {
  const { claims, user, workspace, reader } = await requireWorkspace(slug);
  const { projects, trends, changes, budgets } = await listSpendOfProjects(
    claims,
    slug,
    shown.query,
    reader.display?.currency,
  );
  if (projects.length === 0)
    return (
      <EmptyState icon={<Folder />} title="No project yet" action={<AddSourceLink workspace={workspace} />}>
        The first message that names a project creates it.
      </EmptyState>
    );
  return (
    <ProjectList
      workspace={slug}
      projects={projects}
      trends={trends}
      changes={changes}
      budgets={budgets}
      range={shown.range}
      params={shown.params}
      order={projectOrderOf(projects)}
      views={await readRememberedViews(user.id)}
    />
  );
}

/** The slugs of a workspace's projects, the oldest first. The order decides the colours of the projects. */
function projectOrderOf(projects: Pick<Project, "id" | "slug" | "created_at">[]): string[] {
  return [...projects]
    .sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at) || (a.id < b.id ? -1 : 1))
    .map(({ slug }) => slug);
}
