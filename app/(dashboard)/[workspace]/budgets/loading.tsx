import { BudgetsSkeleton } from "@/components/budgets/budgets-skeleton";
import { PageHeader } from "@/components/shell/page-header";

export default function BudgetsLoading() {
  return (
    <>
      <PageHeader title="Budgets" />
      <BudgetsSkeleton />
    </>
  );
}
