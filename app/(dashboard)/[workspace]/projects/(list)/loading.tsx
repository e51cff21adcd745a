import { ProjectListSkeleton } from "@/components/projects/project-list-skeleton";
import { PageHeader } from "@/components/shell/page-header";

/** What is in sight at once when one goes to the projects. */
export default function Loading() {
  return (
    <>
      <PageHeader title="Projects" />
      <ProjectListSkeleton />
    </>
  );
}
