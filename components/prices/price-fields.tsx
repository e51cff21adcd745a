"use client";

import { Plus } from "lucide-react";
import { formatUsd } from "@/components/figures/money";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/checkbox";
import { DateInput } from "@/components/ui/date-input";
import { FormField, TextField } from "@/components/ui/form-field";
import { Select } from "@/components/ui/select";
import { effectOf, newUnit, type PriceForm, portions, type UnitForm } from "./price-request";

/** Props of a part of the price form: the values, how to change them, and the errors by the API's paths. */
type Part = {
  form: PriceForm;
  change: (changes: Partial<PriceForm>) => void;
  errors: Record<string, string>;
};

const nameInput = { autoCapitalize: "none", autoComplete: "off" };

/** The fields that say what the prices are for: provider and model. */
export function PriceSubject({ form, change, errors }: Part) {
  return (
    <>
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
        label="Model"
        optional
        description="Leave empty to set the prices of every model of the provider."
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

/** The units, each with its price and the number of units that the price is for, and a button that adds a unit. */
export function UnitFields({ form, change, errors }: Part) {
  const changeUnit = (at: number, changes: Partial<UnitForm>) =>
    change({ units: form.units.map((unit, place) => (place === at ? { ...unit, ...changes } : unit)) });
  return (
    <div className="grid gap-3">
      {form.units.map((unit, at) => (
        <fieldset
          // biome-ignore lint/suspicious/noArrayIndexKey: units are only added, at the end.
          key={at}
          className="grid grid-cols-2 items-start gap-3 max-sm:border-t max-sm:pt-3 sm:grid-cols-[minmax(0,1fr)_8rem_10rem]"
        >
          <legend className="sr-only">{unit.unitType || `Unit ${at + 1}`}</legend>
          <div className="max-sm:col-span-2">
            <TextField
              label="Unit"
              error={errors[`units.${at}.unit_type`]}
              value={unit.unitType}
              onChange={({ currentTarget }) => changeUnit(at, { unitType: currentTarget.value })}
              placeholder="input_tokens"
              maxLength={64}
              {...nameInput}
            />
          </div>
          <TextField
            label="Price, US dollars"
            error={errors[`units.${at}.rate`]}
            value={unit.rate}
            onChange={({ currentTarget }) => changeUnit(at, { rate: currentTarget.value })}
            placeholder="2.50"
            inputMode="decimal"
            autoComplete="off"
          />
          <FormField label="For">
            {(control) => (
              <Select
                {...control}
                value={unit.per}
                onChange={({ currentTarget }) => changeUnit(at, { per: currentTarget.value })}
              >
                {portions.map(({ value, label }) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </Select>
            )}
          </FormField>
        </fieldset>
      ))}
      <Button
        variant="outline"
        size="sm"
        className="w-fit"
        onClick={() => change({ units: [...form.units, newUnit] })}
      >
        <Plus aria-hidden="true" />
        Add a unit
      </Button>
    </div>
  );
}

/** The first day of the prices. */
export function StartField({ form, change, errors }: Part) {
  return (
    <FormField label="From this day" description="From midnight UTC." error={errors.starts_at}>
      {(control) => (
        <DateInput
          {...control}
          value={form.startsOn}
          onChange={({ currentTarget }) => change({ startsOn: currentTarget.value })}
        />
      )}
    </FormField>
  );
}

/** The fields for whether usage that already has a price is corrected, too, and on which days. */
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

/** What the usage without a price will cost at the typed prices. */
export function PriceEffect({ form }: { form: PriceForm }) {
  const cost = effectOf(form);
  return (
    <p role="status" className="rounded-md border bg-muted px-3.5 py-2.5 text-sm">
      {cost === undefined
        ? "Type a price to see what the usage without a price will cost."
        : `The usage without a price will cost ${formatUsd(cost)}.`}
    </p>
  );
}
