"use client";

import { useState } from "react";
import { parseAmount } from "@/components/figures/parse-amount";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { textOf } from "@/components/ui/form";
import { TextField } from "@/components/ui/form-field";
import type { budget as budgetSchema, editBudgetRequest } from "@/lib/contract/spend/budgets";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { BudgetDialog, type BudgetFields, checkBudget, checkBudgetAmount } from "./budget-dialog";
import { OwnerField, ownerOf } from "./budget-owner";
import { BudgetPreviewText } from "./budget-preview";
import { type Receivers, ReceiversField, receiversOf, toWarns, warnsError } from "./budget-receivers";
import { amountLabels, type EditableBudget } from "./budget-view";
import { formatThresholds, toAlertAt } from "./parse-thresholds";

/** Converts the fields to a raise; null if there is none. */
function raiseOf(values: FormData) {
  const amount = textOf(values, "raise_amount");
  const until = textOf(values, "raise_until");
  return amount === "" && until === "" ? null : { amount, until };
}

/** Converts the fields to the changes in a request. */
function toChanges(
  { amount, alertAt, blocks }: Pick<BudgetFields, "amount" | "alertAt" | "blocks">,
  raise: ReturnType<typeof raiseOf>,
) {
  return {
    amount: new ExactNumber(parseAmount(amount) ?? ""),
    alert_at: toAlertAt(alertAt),
    blocks,
    raise: raise && { amount: new ExactNumber(parseAmount(raise.amount) ?? ""), until: raise.until },
  };
}

/** Finds what is wrong with the fields, by the API's paths. */
function checkChanges(fields: BudgetFields): Record<string, string> {
  const raise = raiseOf(fields.values);
  return {
    ...checkBudget(fields),
    ...(raise && checkBudgetAmount(raise.amount, "raise.amount")),
    ...(raise && raise.until === "" && { "raise.until": "is required: the last day of the raise" }),
  };
}

/** Changes a budget's name, limit and thresholds, and raises the limit until a day. */
export default function EditBudgetDialog({
  workspace,
  budget,
  onClose,
}: {
  workspace: string;
  budget: EditableBudget;
  onClose: () => void;
}) {
  const [receivers, setReceivers] = useState<Receivers>(receiversOf(budget.warns));
  const [owner, setOwner] = useState(budget.owner?.id ?? "");
  const [typed, setTyped] = useState<BudgetFields>();
  const { run, isPending, problem, fieldErrors } = useMutation(
    (fields: BudgetFields) =>
      callApi<typeof budgetSchema, typeof editBudgetRequest>(
        "PATCH",
        `/api/v1/workspaces/${workspace}/budgets/${budget.id}`,
        {
          ...toChanges(fields, raiseOf(fields.values)),
          name: fields.name,
          warns: toWarns(receivers),
          owner: ownerOf(fields.values),
        },
      ),
    {
      check: checkChanges,
      done: ({ name }) => `The budget ${name} is changed.`,
      quiet: true,
    },
  );
  const save = async (fields: BudgetFields) => {
    if (await run(fields)) onClose();
  };
  const initial = {
    name: budget.name,
    amount: budget.amount,
    alertAt: formatThresholds({ percent: budget.percents, usd: budget.amounts }),
    blocks: budget.blocks,
  };
  const changes = !typed
    ? toChanges(initial, budget.raise)
    : Object.keys(checkChanges(typed)).length === 0
      ? toChanges(typed, raiseOf(typed.values))
      : undefined;
  return (
    <BudgetDialog
      title={`Edit ${budget.name}`}
      description="What a budget covers and how often it resets cannot be changed. Set another budget instead."
      amountLabel={amountLabels[budget.period]}
      currency={budget.currency}
      initial={initial}
      submit="Save"
      isPending={isPending}
      problem={problem}
      fieldErrors={fieldErrors}
      onSubmit={save}
      onType={setTyped}
      onClose={onClose}
      more={
        <>
          <ReceiversField
            workspace={workspace}
            initial={budget.warns}
            value={receivers}
            onChange={setReceivers}
            error={warnsError(fieldErrors)}
          />
          <OwnerField
            workspace={workspace}
            initial={budget.owner}
            value={owner}
            onChange={setOwner}
            fieldErrors={fieldErrors}
          />
          <fieldset className="grid gap-5 sm:grid-cols-2">
            <legend className="mb-1 font-medium text-sm">Raise the limit for a while</legend>
            <TextField
              label="Raised limit"
              optional
              error={fieldErrors["raise.amount"]}
              name="raise_amount"
              defaultValue={budget.raise?.amount}
              inputMode="decimal"
              autoComplete="off"
            />
            <TextField
              label="Raised through"
              optional
              error={fieldErrors["raise.until"]}
              name="raise_until"
              type="date"
              defaultValue={budget.raise?.until}
            />
          </fieldset>
          <BudgetPreviewText workspace={workspace} request={changes && { ...budget.fixed, ...changes }} />
        </>
      }
    />
  );
}
