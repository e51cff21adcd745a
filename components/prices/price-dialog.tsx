"use client";

import { type FormEvent, useEffect, useRef, useState } from "react";
import { multiplyExact } from "@/components/activity/exact";
import { callApi } from "@/components/api";
import { formatUsd } from "@/components/money";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/checkbox";
import { DateInput } from "@/components/ui/date-input";
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
import { Select } from "@/components/ui/select";
import { toast } from "@/components/ui/toaster";
import { useMutation } from "@/components/use-mutation";
import type { setPriceRequest, setPriceResult } from "@/lib/contract/prices";
import { type PriceForm, portions, readPriceForm, unitRate } from "./price-request";
import { type PriceStart, usualPortion } from "./price-view";

/** Sets what a unit of something costs from a day on, and corrects what follows from it. */
export default function PriceDialog({
  workspace,
  start,
  onClose,
}: {
  workspace: string;
  start: PriceStart;
  onClose: () => void;
}) {
  const { waiting, ...given } = start;
  const [form, setForm] = useState<PriceForm>({
    ...given,
    per: usualPortion(start.unitType),
    reprices: false,
    repriceFrom: start.startsOn,
    repriceTo: "",
  });
  const [unsent, setUnsent] = useState<Record<string, string>>({});
  const element = useRef<HTMLFormElement>(null);
  const setting = useMutation(
    (filled: PriceForm) =>
      callApi<typeof setPriceResult, typeof setPriceRequest>(
        "PUT",
        `/api/v1/workspaces/${workspace}/prices`,
        readPriceForm(filled).request,
      ),
    { quiet: true },
  );
  const errors: Record<string, string> = { ...setting.fieldErrors, ...unsent };
  const marked = Object.keys(errors).join();
  useEffect(() => {
    if (marked) element.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
  }, [marked]);

  const change = (changes: Partial<PriceForm>) => setForm((now) => ({ ...now, ...changes }));
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const found = readPriceForm(form).errors;
    setUnsent(found);
    if (Object.keys(found).length > 0 || !(await setting.run(form))) return;
    toast("The price is set. What it changes is being corrected.");
    onClose();
  };

  return (
    <Dialog open onOpenChange={onClose}>
      <DialogContent>
        <form ref={element} onSubmit={submit} noValidate className="grid gap-5">
          <DialogHeader>
            <DialogTitle>Set a price</DialogTitle>
            <DialogDescription>
              It goes before the catalogue's. Usage from that day on that has no price yet gets it.
            </DialogDescription>
          </DialogHeader>
          <Subject form={form} change={change} errors={errors} />
          <div className="grid grid-cols-[minmax(0,1fr)_10rem] items-start gap-3">
            <FormField label="Price, US dollars" error={errors.rate}>
              {(control) => (
                <Input
                  {...control}
                  value={form.rate}
                  onChange={({ currentTarget }) => change({ rate: currentTarget.value })}
                  placeholder="2.50"
                  inputMode="decimal"
                  autoComplete="off"
                />
              )}
            </FormField>
            <FormField label="For">
              {(control) => (
                <Select
                  {...control}
                  value={form.per}
                  onChange={({ currentTarget }) => change({ per: currentTarget.value })}
                >
                  {portions.map(({ value, label }) => (
                    <option key={value} value={value}>
                      {label}
                    </option>
                  ))}
                </Select>
              )}
            </FormField>
          </div>
          <FormField label="From this day on" description="From midnight UTC." error={errors.starts_at}>
            {(control) => (
              <DateInput
                {...control}
                value={form.startsOn}
                onChange={({ currentTarget }) => change({ startsOn: currentTarget.value })}
              />
            )}
          </FormField>
          <Correction form={form} change={change} errors={errors} />
          {waiting === null ? null : <Effect form={form} waiting={waiting} />}
          {setting.problem && marked === "" ? <Alert variant="destructive">{setting.problem}</Alert> : null}
          <DialogFooter>
            <DialogClose>Cancel</DialogClose>
            <Button type="submit" disabled={setting.isPending}>
              Set the price
            </Button>
          </DialogFooter>
        </form>
      </DialogContent>
    </Dialog>
  );
}

type Part = {
  form: PriceForm;
  change: (changes: Partial<PriceForm>) => void;
  errors: Record<string, string>;
};

/** What it is the price of. */
function Subject({ form, change, errors }: Part) {
  return (
    <>
      <div className="grid grid-cols-2 items-start gap-3">
        <FormField label="Provider" error={errors.provider}>
          {(control) => (
            <Input
              {...control}
              value={form.provider}
              onChange={({ currentTarget }) => change({ provider: currentTarget.value })}
              placeholder="in-house"
              maxLength={64}
              autoCapitalize="none"
              autoComplete="off"
            />
          )}
        </FormField>
        <FormField label="Unit" error={errors.unit_type}>
          {(control) => (
            <Input
              {...control}
              value={form.unitType}
              onChange={({ currentTarget }) => change({ unitType: currentTarget.value })}
              placeholder="input_tokens"
              maxLength={64}
              autoCapitalize="none"
              autoComplete="off"
            />
          )}
        </FormField>
      </div>
      <FormField
        label="Model"
        optional
        description="Left empty, it is the price of every model of the provider."
        error={errors.model}
      >
        {(control) => (
          <Input
            {...control}
            value={form.model}
            onChange={({ currentTarget }) => change({ model: currentTarget.value })}
            placeholder="ranker-7b"
            maxLength={128}
            autoCapitalize="none"
            autoComplete="off"
          />
        )}
      </FormField>
    </>
  );
}

/** Whether what was priced before is corrected too. */
function Correction({ form, change, errors }: Part) {
  return (
    <fieldset className="grid gap-3">
      <legend className="sr-only">What was priced before</legend>
      <Checkbox
        label="Also correct what was priced before"
        description="All usage of the provider in these days is priced anew. Costs that came with a message stay."
        checked={form.reprices}
        onChange={({ currentTarget }) => change({ reprices: currentTarget.checked })}
      />
      {form.reprices ? (
        <div className="grid grid-cols-2 items-start gap-3">
          <FormField label="First day" error={errors["reprice.from"]}>
            {(control) => (
              <DateInput
                {...control}
                value={form.repriceFrom}
                onChange={({ currentTarget }) => change({ repriceFrom: currentTarget.value })}
              />
            )}
          </FormField>
          <FormField
            label="Last day"
            optional
            description="Left empty, up to now."
            error={errors["reprice.to"] && "must not be before the first day"}
          >
            {(control) => (
              <DateInput
                {...control}
                value={form.repriceTo}
                onChange={({ currentTarget }) => change({ repriceTo: currentTarget.value })}
              />
            )}
          </FormField>
        </div>
      ) : null}
    </fieldset>
  );
}

/** What the usage that waits for a price comes to at the one that is typed. */
function Effect({ form, waiting }: { form: PriceForm; waiting: string }) {
  const rate = unitRate(form);
  return (
    <p role="status" className="rounded-md border bg-muted px-3.5 py-2.5 text-sm">
      {rate === undefined
        ? "At a price, you see here what the usage that waits for it comes to."
        : `What waits for this price comes to ${formatUsd(multiplyExact(waiting, rate))}.`}
    </p>
  );
}
