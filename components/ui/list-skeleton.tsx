import { Skeleton } from "./skeleton";

const rows = ["w-32", "w-44", "w-36", "w-40"];

/** Placeholder for a sentence and a list with amounts while they are loading. */
export function ListSkeleton() {
  return (
    <div aria-busy="true">
      <Skeleton className="mb-6 h-5 w-64 max-w-full" />
      {rows.map((width) => (
        <div key={width} className="flex justify-between gap-6 border-t py-3.5">
          <div className="grid w-full max-w-md gap-2">
            <Skeleton className={width} />
            <Skeleton className="w-full" />
          </div>
          <Skeleton className="w-24 shrink-0" />
        </div>
      ))}
    </div>
  );
}
