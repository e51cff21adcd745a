import { ProjectListSkeleton } from "@/components/projects/project-list-skeleton";
import { PageHeader } from "@/components/shell/page-header";

export default function Loading() {
  return (
    <>
      <PageHeader title="Projects" />
      <ProjectListSkeleton />
    </>
  );
}
