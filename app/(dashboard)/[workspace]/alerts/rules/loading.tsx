import { PageHeader } from "@/components/shell/page-header";
import { ListSkeleton } from "@/components/ui/list-skeleton";

export default function AlertRulesLoading() {
  return (
    <>
      <PageHeader title="Rules and channels" />
      <ListSkeleton />
    </>
  );
}
