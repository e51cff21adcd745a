"use client";

import { Pencil, ShieldCheck, Trash2 } from "lucide-react";
import dynamic from "next/dynamic";
import { useState } from "react";
import { onDemand } from "@/components/connection/on-demand";
import { ActionsMenu } from "@/components/ui/actions-menu";
import { ConfirmDialog, deletion } from "@/components/ui/confirm-dialog";
import { DropdownMenuItem, DropdownMenuSeparator } from "@/components/ui/dropdown-menu";
import { budgetsSentenceId, type EditableBudget } from "./budget-view";

// With `ssr: false`, loading the dialog does not suspend the page.
const EditBudgetDialog = dynamic(
  onDemand(() => import("./edit-budget-dialog")),
  { ssr: false },
);

const LinkLimitDialog = dynamic(
  onDemand(() => import("./link-limit-dialog")),
  { ssr: false },
);

/** The menu of a budget, for admins: edit it, set its limit at a provider, or delete it after a confirmation. */
export function BudgetActions({ workspace, budget }: { workspace: string; budget: EditableBudget }) {
  const [dialog, setDialog] = useState<"edit" | "link" | "delete">();
  const close = () => setDialog(undefined);
  return (
    <>
      <ActionsMenu name={budget.name} className="-mt-1.5 -mr-1.5 size-8">
        <DropdownMenuItem onSelect={() => setDialog("edit")}>
          <Pencil aria-hidden="true" />
          Edit
        </DropdownMenuItem>
        <DropdownMenuItem onSelect={() => setDialog("link")}>
          <ShieldCheck aria-hidden="true" />
          Limit at a provider
        </DropdownMenuItem>
        <DropdownMenuSeparator />
        <DropdownMenuItem destructive onSelect={() => setDialog("delete")}>
          <Trash2 aria-hidden="true" />
          Delete
        </DropdownMenuItem>
      </ActionsMenu>
      {dialog === "edit" ? <EditBudgetDialog workspace={workspace} budget={budget} onClose={close} /> : null}
      {dialog === "link" ? <LinkLimitDialog workspace={workspace} budget={budget} onClose={close} /> : null}
      <ConfirmDialog
        open={dialog === "delete"}
        onOpenChange={close}
        title={`Delete the budget ${budget.name}?`}
        confirm="Delete"
        {...deletion(`/api/v1/workspaces/${workspace}/budgets/${budget.id}`, {
          done: `The budget ${budget.name} is deleted.`,
          undone: `The budget ${budget.name} is back.`,
        })}
        focusAfter={budgetsSentenceId}
      >
        It no longer alerts anyone, and it disappears from the overview and from what keys and assistants can
        read. Recorded costs stay. Its limits at providers are removed there, or stay, as was chosen for each.
      </ConfirmDialog>
    </>
  );
}
