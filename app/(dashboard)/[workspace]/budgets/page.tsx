import type { Metadata } from "next";
import { PageHeader } from "@/components/shell/page-header";

export const metadata: Metadata = { title: "Budgets" };

/** Keeps the address until its page is built. */
export default function BudgetsPage() {
  return <PageHeader title="Budgets" />;
}
