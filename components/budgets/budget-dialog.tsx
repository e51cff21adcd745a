"use client";

import type { ReactNode } from "react";
import { parseAmount } from "@/components/parse-amount";
import { Dialog, DialogContent, DialogDescription, DialogHeader, DialogTitle } from "@/components/ui/dialog";
import { DialogFormFooter } from "@/components/ui/dialog-form-footer";
import { Form, textOf } from "@/components/ui/form";
import { TextField } from "@/components/ui/form-field";

/** A budget's name and its limit in USD as the user typed them. */
export type BudgetFields = { name: string; amount: string };

/** Finds what is wrong with the typed limit, as field errors by the API's paths. */
export function checkAmount({ amount }: BudgetFields): Record<string, string> {
  const digits = parseAmount(amount);
  if (!digits) return { amount: "must be an amount, like 500 or 12.50" };
  return Number(digits) === 0 ? { amount: "must be more than 0" } : {};
}

/** The dialog for a budget's name and limit; `children` are fields above them. */
export function BudgetDialog({
  title,
  description,
  initial,
  nameDescription,
  submit,
  isPending,
  problem,
  fieldErrors,
  onSubmit,
  onClose,
  children,
}: {
  title: string;
  description: ReactNode;
  /** The budget to edit; a new budget may be left without a name. */
  initial?: BudgetFields;
  nameDescription?: string;
  submit: string;
  isPending: boolean;
  problem: string | undefined;
  /** What is wrong, by the API's paths. */
  fieldErrors: Record<string, string>;
  onSubmit: (fields: BudgetFields) => void;
  onClose: () => void;
  children?: ReactNode;
}) {
  return (
    <Dialog open onOpenChange={onClose}>
      <DialogContent className="sm:max-w-md">
        <Form
          noValidate
          onSubmit={(fields) => onSubmit({ name: textOf(fields, "name"), amount: textOf(fields, "amount") })}
          className="grid gap-5"
        >
          <DialogHeader>
            <DialogTitle>{title}</DialogTitle>
            <DialogDescription>{description}</DialogDescription>
          </DialogHeader>
          {children}
          <TextField
            label="How much a month?"
            description="US dollars in a UTC month."
            error={fieldErrors.amount}
            name="amount"
            defaultValue={initial?.amount}
            placeholder="500"
            inputMode="decimal"
            autoComplete="off"
          />
          <TextField
            label="Name"
            optional={!initial}
            description={nameDescription}
            error={fieldErrors.name}
            name="name"
            defaultValue={initial?.name}
            maxLength={120}
            autoComplete="off"
          />
          <DialogFormFooter submit={submit} isPending={isPending} problem={problem} />
        </Form>
      </DialogContent>
    </Dialog>
  );
}
