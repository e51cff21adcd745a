import { Skeleton } from "@/components/ui/skeleton";

/** Placeholder for a form while its values are loading. */
export function FormSkeleton() {
  return (
    <div aria-busy="true" className="grid max-w-xl gap-5">
      <Skeleton className="h-5 w-32" />
      {["w-16", "w-24", "w-20"].map((width) => (
        <div key={width} className="grid gap-2">
          <Skeleton className={width} />
          <Skeleton className="h-9 w-full" />
        </div>
      ))}
      <Skeleton className="h-9 w-16" />
    </div>
  );
}
