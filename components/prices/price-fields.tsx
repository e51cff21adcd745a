"use client";

import { multiplyExact } from "@/components/figures/exact";
import { formatUsd } from "@/components/figures/money";
import { Checkbox } from "@/components/ui/checkbox";
import { DateInput } from "@/components/ui/date-input";
import { FormField, TextField } from "@/components/ui/form-field";
import { Select } from "@/components/ui/select";
import { type PriceForm, portions, unitRate } from "./price-request";

/** Props of a part of the price form: the values, how to change them, and the errors by the API's paths. */
type Part = {
  form: PriceForm;
  change: (changes: Partial<PriceForm>) => void;
  errors: Record<string, string>;
};

const nameInput = { autoCapitalize: "none", autoComplete: "off" };

/** The fields that say what the price is for: provider, unit and model. */
export function PriceSubject({ form, change, errors }: Part) {
  return (
    <>
      <div className="grid grid-cols-2 items-start gap-3">
        <TextField
          label="Provider"
          error={errors.provider}
          value={form.provider}
          onChange={({ currentTarget }) => change({ provider: currentTarget.value })}
          placeholder="in-house"
          maxLength={64}
          {...nameInput}
        />
        <TextField
          label="Unit"
          error={errors.unit_type}
          value={form.unitType}
          onChange={({ currentTarget }) => change({ unitType: currentTarget.value })}
          placeholder="input_tokens"
          maxLength={64}
          {...nameInput}
        />
      </div>
      <TextField
        label="Model"
        optional
        description="Leave empty to set the price of every model of the provider."
        error={errors.model}
        value={form.model}
        onChange={({ currentTarget }) => change({ model: currentTarget.value })}
        placeholder="ranker-7b"
        maxLength={128}
        {...nameInput}
      />
    </>
  );
}

/** The price, for how many units it is, and its first day. */
export function RateFields({ form, change, errors }: Part) {
  return (
    <>
      <div className="grid grid-cols-[minmax(0,1fr)_10rem] items-start gap-3">
        <TextField
          label="Price, US dollars"
          error={errors.rate}
          value={form.rate}
          onChange={({ currentTarget }) => change({ rate: currentTarget.value })}
          placeholder="2.50"
          inputMode="decimal"
          autoComplete="off"
        />
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
      <FormField label="From this day" description="From midnight UTC." error={errors.starts_at}>
        {(control) => (
          <DateInput
            {...control}
            value={form.startsOn}
            onChange={({ currentTarget }) => change({ startsOn: currentTarget.value })}
          />
        )}
      </FormField>
    </>
  );
}

/** Whether usage that already had a price is corrected too, and in which days. */
export function RepricingFields({ form, change, errors }: Part) {
  return (
    <fieldset className="grid gap-3">
      <legend className="sr-only">Usage that already has a price</legend>
      <Checkbox
        label="Also correct usage that already has a price"
        description="All usage of the provider in these days is priced again. Costs that were sent with a message do not change."
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
            description="Leave empty for no end."
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

/** What the usage without a price will cost at the typed price. @param props.waiting number of units, exact */
export function PriceEffect({ form, waiting }: { form: PriceForm; waiting: string }) {
  const rate = unitRate(form);
  return (
    <p role="status" className="rounded-md border bg-muted px-3.5 py-2.5 text-sm">
      {rate === undefined
        ? "Type a price to see what the usage without a price will cost."
        : `The usage without a price will cost ${formatUsd(multiplyExact(waiting, rate))}.`}
    </p>
  );
}
