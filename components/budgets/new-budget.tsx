"use client";

import { Plus } from "lucide-react";
import dynamic from "next/dynamic";
import { useState } from "react";
import { onDemand } from "@/components/connection/on-demand";
import { Button } from "@/components/ui/button";

// With `ssr: false`, loading the dialog does not suspend the page.
const NewBudgetDialog = dynamic(
  onDemand(() => import("./new-budget-dialog")),
  { ssr: false },
);

/** The button that opens the dialog for a new budget. */
export function NewBudget({
  workspace,
  variant = "default",
}: {
  workspace: string;
  variant?: "default" | "outline";
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button variant={variant} aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <Plus aria-hidden="true" />
        Set a budget
      </Button>
      {isOpen ? <NewBudgetDialog workspace={workspace} onClose={() => setOpen(false)} /> : null}
    </>
  );
}
