import { PageHeader } from "@/components/shell/page-header";
import { Skeleton } from "@/components/ui/skeleton";

export default function BudgetsLoading() {
  return (
    <>
      <PageHeader title="Budgets" />
      <BudgetsSkeleton />
    </>
  );
}

/** Placeholder for the budgets while they are loading. */
function BudgetsSkeleton() {
  return (
    <div aria-busy="true">
      <Skeleton className="mb-6 h-5 w-80 max-w-full" />
      <div className="grid gap-4 md:grid-cols-2">
        {["a", "b", "c", "d"].map((card) => (
          <div key={card} className="grid content-start gap-4 rounded-lg border p-4">
            <div className="grid gap-1.5 py-0.5">
              <Skeleton className="w-32" />
              <Skeleton className="h-3 w-20" />
            </div>
            <div className="grid gap-2">
              <Skeleton className="h-7 w-48" />
              <Skeleton className="h-1.5 w-full" />
            </div>
            <div className="grid gap-1.5">
              <Skeleton className="w-36" />
              <Skeleton className="w-56" />
            </div>
          </div>
        ))}
      </div>
    </div>
  );
}
