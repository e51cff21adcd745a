import { Skeleton } from "@/components/ui/skeleton";

const places = ["a", "b", "c", "d"];

/** Placeholder for figures, a chart and breakdowns while they are loading. */
export function SpendSkeleton() {
  return (
    <>
      <div className="grid grid-cols-2 gap-x-6 gap-y-5 border-y py-4 lg:grid-cols-4">
        {places.map((place) => (
          <div key={place} className="grid gap-1.5">
            <Skeleton className="h-3.5 w-24" />
            <Skeleton className="h-6 w-28" />
            <Skeleton className="h-3.5 w-32" />
          </div>
        ))}
      </div>
      <div>
        <Skeleton className="mb-6 h-4 w-28" />
        <Skeleton className="h-72 w-full" />
      </div>
      <div className="grid gap-x-10 gap-y-8 md:grid-cols-2">
        {places.map((place) => (
          <Skeleton key={place} className="h-56 w-full" />
        ))}
      </div>
    </>
  );
}
