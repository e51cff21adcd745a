import { Skeleton } from "@/components/ui/skeleton";

const widths = ["w-40", "w-32", "w-44", "w-28", "w-36", "w-24"];

/** Placeholder for the list of projects while it is loading. */
export function ProjectListSkeleton() {
  return (
    <div aria-busy="true" className="pt-9">
      {widths.map((width) => (
        <div key={width} className="flex h-13 items-center justify-between border-t">
          <Skeleton className={width} />
          <Skeleton className="w-20" />
        </div>
      ))}
    </div>
  );
}
