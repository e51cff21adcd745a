import { Skeleton } from "@/components/ui/skeleton";

/** Placeholder for the controls and the chart while they are loading. */
export function ExploreSkeleton() {
  return (
    <>
      <div className="grid grid-cols-2 gap-3 pb-3 sm:grid-cols-4">
        {["a", "b", "c", "d"].map((place) => (
          <Skeleton key={place} className="h-14 w-full" />
        ))}
      </div>
      <Skeleton className="mb-6 h-8 w-72" />
      <Skeleton className="mb-4 h-7 w-64" />
      <Skeleton className="h-80 w-full" />
    </>
  );
}
