"use client";

import type { ReactNode } from "react";
import { parseAmount } from "@/components/parse-amount";
import { Dialog, DialogContent, DialogDescription, DialogHeader, DialogTitle } from "@/components/ui/dialog";
import { DialogFormFooter } from "@/components/ui/dialog-form-footer";
import { Form, textOf } from "@/components/ui/form";
import { TextField } from "@/components/ui/form-field";
import { parseThresholds } from "./parse-thresholds";

/** The fields of a budget as the user typed them; `values` has those of the dialog's own fields. */
export type BudgetFields = { name: string; amount: string; alertAt: string; values: FormData };

/** Finds what is wrong with the typed limit and thresholds, as field errors by the API's paths. */
export function checkBudget({ amount, alertAt }: BudgetFields): Record<string, string> {
  return {
    ...checkAmount(amount, "amount"),
    ...(!parseThresholds(alertAt) && { alert_at: "must be shares or amounts, like 80% or $500" }),
  };
}

/** Finds what is wrong with a typed amount, as an error of this path. */
export function checkAmount(typed: string, path: string): Record<string, string> {
  const digits = parseAmount(typed);
  if (!digits) return { [path]: "must be an amount, like 500 or 12.50" };
  return Number(digits) === 0 ? { [path]: "must be more than 0" } : {};
}

/** The dialog for a budget's limit, thresholds and name; `children` are fields above them, `more` fields below. */
export function BudgetDialog({
  title,
  description,
  amountLabel,
  initial,
  nameDescription,
  submit,
  isPending,
  problem,
  fieldErrors,
  onSubmit,
  onClose,
  children,
  more,
}: {
  title: string;
  description: ReactNode;
  /** "How much a month?" */
  amountLabel: string;
  /** What the fields show at first; a new budget may be left without a name. */
  initial: { name?: string; amount?: string; alertAt: string };
  nameDescription?: string;
  submit: string;
  isPending: boolean;
  problem: string | undefined;
  /** What is wrong, by the API's paths. */
  fieldErrors: Record<string, string>;
  onSubmit: (fields: BudgetFields) => void;
  onClose: () => void;
  children?: ReactNode;
  more?: ReactNode;
}) {
  return (
    <Dialog open onOpenChange={onClose}>
      <DialogContent className="sm:max-w-md">
        <Form
          noValidate
          onSubmit={(values) =>
            onSubmit({
              name: textOf(values, "name"),
              amount: textOf(values, "amount"),
              alertAt: textOf(values, "alert_at"),
              values,
            })
          }
          className="grid gap-5"
        >
          <DialogHeader>
            <DialogTitle>{title}</DialogTitle>
            <DialogDescription>{description}</DialogDescription>
          </DialogHeader>
          {children}
          <TextField
            label={amountLabel}
            description="US dollars."
            error={fieldErrors.amount}
            name="amount"
            defaultValue={initial.amount}
            placeholder="500"
            inputMode="decimal"
            autoComplete="off"
          />
          <TextField
            label="Alert at"
            optional
            description="Shares of the limit or amounts, each once in a period. Channels are set on the page Alerts."
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
