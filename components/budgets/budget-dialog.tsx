"use client";

import type { ReactNode } from "react";
import { parseAmount } from "@/components/figures/parse-amount";
import { Dialog, DialogContent, DialogDescription, DialogHeader, DialogTitle } from "@/components/ui/dialog";
import { DialogFormFooter } from "@/components/ui/dialog-form-footer";
import { Form, textOf } from "@/components/ui/form";
import { FormField, TextField } from "@/components/ui/form-field";
import { Select } from "@/components/ui/select";
import { parseThresholds } from "./parse-thresholds";

/** The fields of a budget as the user typed them; `values` has those of the dialog's own fields. */
export type BudgetFields = {
  name: string;
  amount: string;
  alertAt: string;
  blocks: boolean;
  values: FormData;
};

/** Finds what is wrong with the typed limit and thresholds, as field errors by the API's paths. */
export function checkBudget({
  amount,
  alertAt,
}: Pick<BudgetFields, "amount" | "alertAt">): Record<string, string> {
  return {
    ...checkBudgetAmount(amount, "amount"),
    ...(!parseThresholds(alertAt) && { alert_at: "must be shares or amounts, like 80% or $500" }),
  };
}

/** Finds what is wrong with a typed amount, as an error of this path. */
export function checkBudgetAmount(typed: string, path: string): Record<string, string> {
  const digits = parseAmount(typed);
  if (!digits) return { [path]: "must be an amount, like 500 or 12.50" };
  return Number(digits) === 0 ? { [path]: "must be more than 0" } : {};
}

const toFields = (values: FormData): BudgetFields => ({
  name: textOf(values, "name"),
  amount: textOf(values, "amount"),
  alertAt: textOf(values, "alert_at"),
  blocks: textOf(values, "blocks") === "true",
  values,
});

/** The dialog for a budget's limit, thresholds and name; `children` are fields above them, `more` fields below. */
export function BudgetDialog({
  title,
  description,
  amountLabel,
  currency,
  initial,
  nameDescription,
  submit,
  isPending,
  problem,
  fieldErrors,
  onSubmit,
  onType,
  onClose,
  children,
  more,
}: {
  title: string;
  description: ReactNode;
  /** "How much per month?" */
  amountLabel: string;
  /** The budget's currency (ISO 4217), which cannot be changed; left out for a new budget, which has a field for it. */
  currency?: string;
  /** The initial values of the fields. The name of a new budget is optional. */
  initial: { name?: string; amount?: string; alertAt: string; blocks: boolean };
  nameDescription?: string;
  submit: string;
  isPending: boolean;
  problem: string | undefined;
  /** Errors of fields, by the API's paths. */
  fieldErrors: Record<string, string>;
  onSubmit: (fields: BudgetFields) => void;
  /** Called with all fields when one of them has changed. */
  onType?: (fields: BudgetFields) => void;
  onClose: () => void;
  children?: ReactNode;
  more?: ReactNode;
}) {
  return (
    <Dialog open onOpenChange={onClose}>
      <DialogContent className="sm:max-w-md">
        <Form
          noValidate
          onSubmit={(values) => onSubmit(toFields(values))}
          // With `onInput`, a controlled select would be rendered before its own change is handled.
          onChange={({ currentTarget }) => onType?.(toFields(new FormData(currentTarget)))}
          className="grid gap-5"
        >
          <DialogHeader>
            <DialogTitle>{title}</DialogTitle>
            <DialogDescription>{description}</DialogDescription>
          </DialogHeader>
          {children}
          <div className={currency ? "grid" : "grid grid-cols-[minmax(0,1fr)_7rem] items-start gap-3"}>
            <TextField
              label={amountLabel}
              description={currency && (currency === "USD" ? "US dollars." : `In ${currency}.`)}
              error={fieldErrors.amount}
              name="amount"
              defaultValue={initial.amount}
              placeholder="500"
              inputMode="decimal"
              autoComplete="off"
            />
            {currency ? null : (
              <TextField
                label="Currency"
                error={fieldErrors.currency}
                name="currency"
                defaultValue="USD"
                maxLength={3}
                autoComplete="off"
              />
            )}
          </div>
          <FormField
            label="What happens at the limit?"
            description="A budget can refuse to record a cost that would exceed its limit. The call to the model has usually happened by then: the program learns of the refusal and can stop."
            error={fieldErrors.blocks}
          >
            {(control) => (
              <Select {...control} name="blocks" defaultValue={String(initial.blocks)}>
                <option value="false">It warns</option>
                <option value="true">It warns and refuses to record</option>
              </Select>
            )}
          </FormField>
          <TextField
            label="Alert at"
            optional
            description="Percentages of the limit or amounts in US dollars. Each one alerts once per period, for whom the budget warns."
            error={fieldErrors.alert_at ?? fieldErrors["alert_at.percent"] ?? fieldErrors["alert_at.usd"]}
            name="alert_at"
            defaultValue={initial.alertAt}
            placeholder="50%, 80%, $500"
            autoComplete="off"
          />
          <TextField
            label="Name"
            optional={initial.name === undefined}
            description={nameDescription}
            error={fieldErrors.name}
            name="name"
            defaultValue={initial.name}
            maxLength={120}
            autoComplete="off"
          />
          {more}
          <DialogFormFooter submit={submit} isPending={isPending} problem={problem} />
        </Form>
      </DialogContent>
    </Dialog>
  );
}
