import { PageHeader } from "@/components/shell/page-header";
import { ListSkeleton } from "@/components/ui/list-skeleton";

export default function MeLoading() {
  return (
    <>
      <PageHeader title="You" />
      <ListSkeleton />
    </>
  );
}
