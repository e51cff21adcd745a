import { SpendSkeleton } from "@/components/spend/spend-skeleton";
import { Skeleton } from "@/components/ui/skeleton";

/** Placeholder for the overview while it is loading. */
export function OverviewSkeleton() {
  return (
    <div className="grid gap-8" aria-busy="true">
      <div className="grid gap-3">
        <Skeleton className="h-14 w-full max-w-xl sm:h-[3.4rem]" />
        <Skeleton className="h-5 w-full max-w-md" />
      </div>
      <SpendSkeleton />
    </div>
  );
}
