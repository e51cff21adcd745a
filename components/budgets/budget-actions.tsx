"use client";

import { Pencil, Trash2 } from "lucide-react";
import dynamic from "next/dynamic";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { callApi } from "@/components/api";
import { ActionsMenu } from "@/components/ui/actions-menu";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { DropdownMenuItem, DropdownMenuSeparator } from "@/components/ui/dropdown-menu";
import { toast } from "@/components/ui/toaster";
import type { budget as budgetSchema } from "@/lib/contract/budgets";
import { type BudgetInHand, budgetsSentenceId } from "./budget-view";

// What waits for the dialog to be loaded is the dialog alone, not the page.
const EditBudgetDialog = dynamic(() => import("./edit-budget-dialog"), { ssr: false });

/** What admins may do with a budget: change it, delete it. */
export function BudgetActions({ workspace, budget }: { workspace: string; budget: BudgetInHand }) {
  const router = useRouter();
  const [asking, setAsking] = useState<"edit" | "delete">();
  const close = () => setAsking(undefined);
  const remove = async () => {
    const path = `/api/v1/workspaces/${workspace}/budgets/${budget.id}`;
    await callApi<typeof budgetSchema>("DELETE", path);
    toast(`The budget ${budget.name} is deleted.`);
    router.refresh();
    // Its card, and the button the focus would return to, are about to go.
    requestAnimationFrame(() => document.getElementById(budgetsSentenceId)?.focus());
  };
  return (
    <>
      <ActionsMenu name={budget.name} className="-mt-1.5 -mr-1.5 size-8">
        <DropdownMenuItem onSelect={() => setAsking("edit")}>
          <Pencil aria-hidden="true" />
          Edit
        </DropdownMenuItem>
        <DropdownMenuSeparator />
        <DropdownMenuItem destructive onSelect={() => setAsking("delete")}>
          <Trash2 aria-hidden="true" />
          Delete
        </DropdownMenuItem>
      </ActionsMenu>
      {asking === "edit" ? <EditBudgetDialog workspace={workspace} budget={budget} onClose={close} /> : null}
      <ConfirmDialog
        open={asking === "delete"}
        onOpenChange={close}
        title={`Delete the budget ${budget.name}?`}
        confirm="Delete"
        onConfirm={remove}
      >
        Nobody is warned by it any more, and it is gone from the overview and from what keys and assistants
        read. What was spent stays recorded.
      </ConfirmDialog>
    </>
  );
}
