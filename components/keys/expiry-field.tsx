"use client";

import { useState } from "react";
import { addDays, startOfDay, utcDay } from "@/components/figures/utc-day";
import { DateInput } from "@/components/ui/date-input";
import { FormField } from "@/components/ui/form-field";
import { SegmentedControl } from "@/components/ui/segmented-control";
import type { KeyFormPart } from "./key-form-part";

const terms = [
  { value: "never", label: "Never" },
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "A year" },
  { value: "day", label: "On a day" },
];

const dayIn = (days: number) => addDays(utcDay(Date.now()), days);

/**
 * The expiry of a key: never, after a usual term, or on a chosen day. A chosen expiry is the beginning of a UTC day. An
 * existing expiry at another time of day is kept until another one is chosen.
 */
export function ExpiryField({ form, change, errors }: KeyFormPart) {
  const [term, setTerm] = useState(form.expiresAt ? "day" : "never");
  const choose = (value: string) => {
    setTerm(value);
    if (value === "never") change({ expiresAt: "" });
    else change({ expiresAt: startOfDay(dayIn(value === "day" ? 30 : Number(value))) });
  };
  return (
    <div className="grid justify-items-start gap-3">
      <span aria-hidden="true" className="font-medium text-sm">
        When does it expire?
      </span>
      <SegmentedControl
        legend="When does it expire?"
        name="term"
        options={terms}
        value={term}
        onChange={choose}
      />
      {term === "day" || errors.expires_at ? (
        <FormField label="Refused from this day" description="From midnight UTC." error={errors.expires_at}>
          {(control) => (
            <DateInput
              {...control}
              value={form.expiresAt ? utcDay(form.expiresAt) : ""}
              min={dayIn(1)}
              onChange={({ currentTarget: { value } }) => change({ expiresAt: value && startOfDay(value) })}
            />
          )}
        </FormField>
      ) : null}
    </div>
  );
}
