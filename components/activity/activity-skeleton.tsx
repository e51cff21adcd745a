import { Skeleton } from "@/components/ui/skeleton";

const rows = ["w-56", "w-40", "w-64", "w-48", "w-52", "w-36", "w-60", "w-44", "w-56", "w-40"];

/** Placeholder for the activity while it is loading. */
export function ActivitySkeleton() {
  return (
    <div aria-busy="true">
      <div className="flex flex-wrap gap-3 pb-3">
        <Skeleton className="h-8 w-80 max-w-full" />
        <Skeleton className="h-8 w-28" />
        <Skeleton className="h-8 w-60 max-sm:hidden" />
      </div>
      <Skeleton className="mb-5 h-8 w-24" />
      <Skeleton className="mb-2 h-6 w-64" />
      <Skeleton className="mb-6 h-4 w-72 max-w-full" />
      {rows.map((width, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike.
        <div key={index} className="flex items-center justify-between border-t py-3">
          <div className="grid gap-1.5">
            <Skeleton className={width} />
            <Skeleton className="h-3 w-28" />
          </div>
          <Skeleton className="w-16" />
        </div>
      ))}
    </div>
  );
}
