"use client";

import { callApi } from "@/components/api";
import { toast } from "@/components/ui/toaster";
import { useMutation } from "@/components/use-mutation";
import type { budget as budgetSchema, editBudgetRequest } from "@/lib/contract/budgets";
import { ExactNumber } from "@/lib/contract/exact-number";
import { BudgetDialog, type BudgetFields } from "./budget-dialog";
import type { BudgetInHand } from "./budget-view";

/** Changes what a budget is called and how much it is. */
export default function EditBudgetDialog({
  workspace,
  budget,
  onClose,
}: {
  workspace: string;
  budget: BudgetInHand;
  onClose: () => void;
}) {
  const edit = useMutation(
    ({ name, amount }: BudgetFields) =>
      callApi<typeof budgetSchema, typeof editBudgetRequest>(
        "PATCH",
        `/api/v1/workspaces/${workspace}/budgets/${budget.id}`,
        { name, amount: new ExactNumber(amount) },
      ),
    { quiet: true },
  );
  const save = async (fields: BudgetFields) => {
    if (!(await edit.run(fields))) return;
    toast(`The budget ${fields.name} is changed.`);
    onClose();
  };
  return (
    <BudgetDialog
      title={`Edit ${budget.name}`}
      description="What it is of stays. For something else, set another budget."
      initial={budget}
      submit="Save"
      isPending={edit.isPending}
      problem={edit.problem}
      errors={edit.fieldErrors}
      onSubmit={save}
      onClose={onClose}
    />
  );
}
