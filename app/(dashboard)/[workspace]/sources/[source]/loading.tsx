import { PageHeader } from "@/components/shell/page-header";
import { ListSkeleton } from "@/components/ui/list-skeleton";

export default function SourceLoading() {
  return (
    <>
      <PageHeader title="Source" />
      <ListSkeleton />
    </>
  );
}
