import { PageHeader } from "@/components/shell/page-header";
import { ListSkeleton } from "@/components/ui/list-skeleton";

export default function RecommendationsLoading() {
  return (
    <>
      <PageHeader title="Recommendations" />
      <ListSkeleton />
    </>
  );
}
