import { OverviewSkeleton } from "@/components/overview/overview-skeleton";
import { PageHeader } from "@/components/shell/page-header";

export default function Loading() {
  return (
    <>
      <PageHeader title="Overview" />
      <OverviewSkeleton />
    </>
  );
}
