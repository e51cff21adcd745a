import type { Metadata } from "next";
import { Suspense } from "react";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { projectOrderOf } from "@/app/(dashboard)/[workspace]/project-order";
import { ProjectList } from "@/components/projects/project-list";
import { ProjectListSkeleton } from "@/components/projects/project-list-skeleton";
import { PageHeader } from "@/components/shell/page-header";
import { dayOf } from "@/lib/contract/instant";
import { listProjects } from "@/lib/spend/projects/service";
import { readSpendView } from "@/lib/spend/views/spend";

type Props = { params: Promise<{ workspace: string }> };

export const metadata: Metadata = { title: "Projects" };

/** All projects of a workspace with their spend of this month. */
export default async function ProjectsPage({ params }: Props) {
  const { workspace } = await params;
  return (
    <>
      <PageHeader title="Projects" />
      <Suspense fallback={<ProjectListSkeleton />}>
        <Projects slug={workspace} />
      </Suspense>
    </>
  );
}

async function Projects({ slug }: { slug: string }) {
  const { claims } = await requireWorkspace(slug);
  const query = { period: "month", environment: "live", group_by: "project" } as const;
  const [{ projects }, { now, metrics }] = await Promise.all([
    listProjects(claims, slug),
    readSpendView(claims, slug, query),
  ]);
  return (
    <ProjectList
      workspace={slug}
      projects={projects}
      series={metrics.series}
      order={projectOrderOf(projects)}
      today={dayOf(now)}
    />
  );
}
