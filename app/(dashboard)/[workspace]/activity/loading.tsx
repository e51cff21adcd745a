import { ActivitySkeleton } from "@/components/activity/activity-skeleton";
import { PageHeader } from "@/components/shell/page-header";

export default function Loading() {
  return (
    <>
      <PageHeader title="Activity" />
      <ActivitySkeleton />
    </>
  );
}
