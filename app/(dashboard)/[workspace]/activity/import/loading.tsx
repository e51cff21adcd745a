import { PageHeader } from "@/components/shell/page-header";
import { Skeleton } from "@/components/ui/skeleton";

export default function Loading() {
  return (
    <>
      <PageHeader title="Import" />
      <Skeleton className="h-56 w-full max-w-3xl rounded-lg" />
    </>
  );
}
