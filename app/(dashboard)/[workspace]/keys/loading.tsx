import { PageHeader } from "@/components/shell/page-header";
import { ListSkeleton } from "@/components/ui/list-skeleton";

export default function KeysLoading() {
  return (
    <>
      <PageHeader title="Keys" />
      <ListSkeleton />
    </>
  );
}
