"use client";

import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { readTypedAmount } from "@/components/typed-amount";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import {
  Dialog,
  DialogClose,
  DialogContent,
  DialogDescription,
  DialogFooter,
  DialogHeader,
  DialogTitle,
} from "@/components/ui/dialog";
import { FormField } from "@/components/ui/form-field";
import { Input } from "@/components/ui/input";

/** A budget's name as it is typed, and its limit as exact digits. */
export type BudgetFields = { name: string; amount: string };

/**
 * Asks for a budget's name and limit, and for what else stands inside.
 * @param props.errors what the API says is wrong, by its paths
 * @param props.onSubmit is called with an amount that is one
 */
export function BudgetDialog({
  title,
  description,
  initial,
  nameHint,
  submit,
  isPending,
  problem,
  errors: refused,
  onSubmit,
  onClose,
  children,
}: {
  title: string;
  description: ReactNode;
  initial?: BudgetFields;
  nameHint?: string;
  submit: string;
  isPending: boolean;
  problem: string | undefined;
  errors: Record<string, string>;
  onSubmit: (fields: BudgetFields) => void;
  onClose: () => void;
  children?: ReactNode;
}) {
  const form = useRef<HTMLFormElement>(null);
  const [amountError, setAmountError] = useState<string>();
  const errors = amountError ? { ...refused, amount: amountError } : refused;

  // To the first field that something is wrong with, once it is marked.
  const marked = Object.keys(errors).join();
  useEffect(() => {
    if (marked) form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
  }, [marked]);

  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget);
    const amount = readTypedAmount(String(typed.get("amount")));
    if (!amount || Number(amount) === 0) {
      setAmountError(amount === undefined ? "must be an amount, like 500 or 12.50" : "must be more than 0");
      return;
    }
    setAmountError(undefined);
    onSubmit({ name: String(typed.get("name")).trim(), amount });
  };

  return (
    <Dialog open onOpenChange={onClose}>
      <DialogContent className="sm:max-w-md">
        <form ref={form} noValidate onSubmit={send} className="grid gap-5">
          <DialogHeader>
            <DialogTitle>{title}</DialogTitle>
            <DialogDescription>{description}</DialogDescription>
          </DialogHeader>
          {children}
          <FormField label="How much a month?" description="US dollars in a UTC month." error={errors.amount}>
            {(control) => (
              <Input
                {...control}
                name="amount"
                defaultValue={initial?.amount}
                placeholder="500"
                inputMode="decimal"
                autoComplete="off"
              />
            )}
          </FormField>
          <FormField label="Name" optional={!initial} description={nameHint} error={errors.name}>
            {(control) => (
              <Input
                {...control}
                name="name"
                defaultValue={initial?.name}
                maxLength={120}
                autoComplete="off"
              />
            )}
          </FormField>
          {problem && marked === "" ? <Alert variant="destructive">{problem}</Alert> : null}
          <DialogFooter>
            <DialogClose>Cancel</DialogClose>
            <Button type="submit" disabled={isPending}>
              {submit}
            </Button>
          </DialogFooter>
        </form>
      </DialogContent>
    </Dialog>
  );
}
