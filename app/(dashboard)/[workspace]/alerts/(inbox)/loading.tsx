import { PageHeader } from "@/components/shell/page-header";
import { ListSkeleton } from "@/components/ui/list-skeleton";

export default function AlertsLoading() {
  return (
    <>
      <PageHeader title="Alerts" />
      <ListSkeleton />
    </>
  );
}
