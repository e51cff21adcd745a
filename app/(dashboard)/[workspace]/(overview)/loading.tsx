import { OverviewSkeleton } from "@/components/overview/overview-skeleton";
import { PageHeader } from "@/components/shell/page-header";

/** What is in sight at once when one goes to the overview. */
export default function Loading() {
  return (
    <>
      <PageHeader title="Overview" />
      <OverviewSkeleton />
    </>
  );
}
