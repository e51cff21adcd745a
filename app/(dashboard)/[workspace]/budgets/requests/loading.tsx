import { PageHeader } from "@/components/shell/page-header";
import { ListSkeleton } from "@/components/ui/list-skeleton";

export default function BudgetRequestsLoading() {
  return (
    <>
      <PageHeader title="Requests" />
      <ListSkeleton />
    </>
  );
}
