import { PageHeader } from "@/components/shell/page-header";
import { ListSkeleton } from "@/components/ui/list-skeleton";

export default function ReconciliationLoading() {
  return (
    <>
      <PageHeader title="Reconciliation" />
      <ListSkeleton />
    </>
  );
}
