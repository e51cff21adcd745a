"use client";

import { useState } from "react";
import { callApi } from "@/components/api";
import { Combobox } from "@/components/ui/combobox";
import { FormField } from "@/components/ui/form-field";
import { Select } from "@/components/ui/select";
import { toast } from "@/components/ui/toaster";
import { useMutation } from "@/components/use-mutation";
import type { budget as budgetSchema, createBudgetRequest } from "@/lib/contract/budgets";
import { ExactNumber } from "@/lib/contract/exact-number";
import { BudgetDialog, type BudgetFields } from "./budget-dialog";
import { type ScopeType, useScopeOptions } from "./use-scope-options";

const scopes: { value: ScopeType; label: string; which?: string; hint?: string }[] = [
  { value: "global", label: "All spend" },
  { value: "project", label: "A project", which: "Which project?" },
  {
    value: "feature",
    label: "A feature",
    which: "Which feature?",
    hint: "As your messages name it; also one that has none yet.",
  },
  {
    value: "provider",
    label: "A provider",
    which: "Which provider?",
    hint: "As your messages name it, in whatever letters.",
  },
  { value: "key", label: "An API key", which: "Which key?" },
];

/** Sets a budget for one part of the spend, or for all of it. */
export default function NewBudgetDialog({ workspace, onClose }: { workspace: string; onClose: () => void }) {
  const [type, setType] = useState<ScopeType>("global");
  const [values, setValues] = useState<string[]>([]);
  const [isUnnamed, setUnnamed] = useState(false);
  const options = useScopeOptions(workspace, type);
  const scope = scopes.find(({ value }) => value === type);
  const creation = useMutation(
    ({ name, amount }: BudgetFields) =>
      callApi<typeof budgetSchema, typeof createBudgetRequest>(
        "POST",
        `/api/v1/workspaces/${workspace}/budgets`,
        {
          ...(name && { name }),
          scope_type: type,
          scope_value: values[0] ?? null,
          amount: new ExactNumber(amount),
        },
      ),
    { quiet: true },
  );
  const create = async (fields: BudgetFields) => {
    const isOpen = type !== "global" && values.length === 0;
    setUnnamed(isOpen);
    if (isOpen) return;
    const made = await creation.run(fields);
    if (!made) return;
    toast(`The budget ${made.name} is set.`);
    onClose();
  };
  const errors = isUnnamed ? { scope_value: "choose one" } : creation.fieldErrors;
  return (
    <BudgetDialog
      title="Set a budget"
      description="It warns from 80 % on. Nothing is refused because of it; to refuse, give a key a limit."
      nameHint="Left empty, it is called what it is of."
      submit="Set the budget"
      isPending={creation.isPending}
      problem={creation.problem}
      errors={errors}
      onSubmit={create}
      onClose={onClose}
    >
      <FormField label="What is it of?" error={errors.scope_type}>
        {(control) => (
          <Select
            {...control}
            value={type}
            onChange={({ currentTarget }) => {
              setType(currentTarget.value as ScopeType);
              setValues([]);
              setUnnamed(false);
              creation.reset();
            }}
          >
            {scopes.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </Select>
        )}
      </FormField>
      {scope?.which ? (
        <FormField label={scope.which} description={scope.hint} error={errors.scope_value}>
          {(control) => (
            <Combobox
              {...control}
              options={options}
              value={values}
              onChange={setValues}
              limit={1}
              allowNew={type === "feature" || type === "provider"}
              placeholder="Type to find one"
            />
          )}
        </FormField>
      ) : null}
    </BudgetDialog>
  );
}
