import type { Metadata } from "next";
import { Suspense } from "react";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { projectOrderOf } from "@/app/(dashboard)/[workspace]/project-order";
import { ProjectList } from "@/components/projects/project-list";
import { ProjectListSkeleton } from "@/components/projects/project-list-skeleton";
import { PageHeader } from "@/components/shell/page-header";
import { listProjects } from "@/lib/projects/service";
import { readMetrics } from "@/lib/reads/metrics";

type Props = { params: Promise<{ workspace: string }> };

export const metadata: Metadata = { title: "Projects" };

/** All projects of a workspace, with what each costs. */
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
  const now = Date.now();
  const [{ projects }, { series }] = await Promise.all([
    listProjects(claims, slug),
    readMetrics(claims, slug, query, now),
  ]);
  return (
    <ProjectList
      workspace={slug}
      projects={projects}
      series={series}
      order={projectOrderOf(projects)}
      today={new Date(now).toISOString().slice(0, 10)}
    />
  );
}
