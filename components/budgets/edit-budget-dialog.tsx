"use client";

import { callApi } from "@/components/api";
import { parseAmount } from "@/components/parse-amount";
import { useMutation } from "@/components/use-mutation";
import type { budget as budgetSchema, editBudgetRequest } from "@/lib/contract/budgets";
import { ExactNumber } from "@/lib/contract/exact-number";
import { BudgetDialog, type BudgetFields, checkAmount } from "./budget-dialog";
import type { EditableBudget } from "./budget-view";

/** Changes a budget's name and limit. */
export default function EditBudgetDialog({
  workspace,
  budget,
  onClose,
}: {
  workspace: string;
  budget: EditableBudget;
  onClose: () => void;
}) {
  const { run, isPending, problem, fieldErrors } = useMutation(
    ({ name, amount }: BudgetFields) =>
      callApi<typeof budgetSchema, typeof editBudgetRequest>(
        "PATCH",
        `/api/v1/workspaces/${workspace}/budgets/${budget.id}`,
        { name, amount: new ExactNumber(parseAmount(amount) ?? "") },
      ),
    { check: checkAmount, done: ({ name }) => `The budget ${name} is changed.`, quiet: true },
  );
  const save = async (fields: BudgetFields) => {
    if (await run(fields)) onClose();
  };
  return (
    <BudgetDialog
      title={`Edit ${budget.name}`}
      description="You cannot change what a budget covers. To cover something else, set another budget."
      initial={budget}
      submit="Save"
      isPending={isPending}
      problem={problem}
      fieldErrors={fieldErrors}
      onSubmit={save}
      onClose={onClose}
    />
  );
}
