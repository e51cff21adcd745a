import { PageHeader } from "@/components/shell/page-header";
import { ListSkeleton } from "@/components/ui/list-skeleton";

export default function ConnectionsLoading() {
  return (
    <>
      <PageHeader title="Connections" />
      <ListSkeleton />
    </>
  );
}
