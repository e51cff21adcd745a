import type { Metadata } from "next";
import { Suspense } from "react";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { projectOrderOf } from "@/app/(dashboard)/[workspace]/project-order";
import { readRememberedViews } from "@/app/(dashboard)/[workspace]/remembered-views";
import { ProjectList } from "@/components/projects/project-list";
import { ProjectListSkeleton } from "@/components/projects/project-list-skeleton";
import { PageHeader } from "@/components/shell/page-header";
import { listProjectsWithTrends } from "@/lib/spend/projects/service";

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
  const { claims, user, reader } = await requireWorkspace(slug);
  const { projects, trends } = await listProjectsWithTrends(claims, slug, reader.display?.currency);
  return (
    <ProjectList
      workspace={slug}
      projects={projects}
      trends={trends}
      order={projectOrderOf(projects)}
      views={await readRememberedViews(user.id)}
    />
  );
}
