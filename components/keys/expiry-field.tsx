"use client";

import { useState } from "react";
import { DateInput } from "@/components/ui/date-input";
import { FormField } from "@/components/ui/form-field";
import { SegmentedControl } from "@/components/ui/segmented-control";
import type { KeyFormPart } from "./key-form-part";

const dayMs = 24 * 60 * 60 * 1000;
const terms = [
  { value: "never", label: "No end" },
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "A year" },
  { value: "day", label: "A day" },
];

/** The instant at which a UTC day begins. */
const startOf = (day: string) => `${day}T00:00:00Z`;
const dayIn = (days: number) => new Date(Date.now() + days * dayMs).toISOString().slice(0, 10);

/** Until when a key is taken. It ends as a UTC day begins; one with a time of day keeps it until another is chosen. */
export function ExpiryField({ form, change, errors }: KeyFormPart) {
  const [term, setTerm] = useState(form.expiresAt ? "day" : "never");
  const choose = (value: string) => {
    setTerm(value);
    if (value === "never") change({ expiresAt: "" });
    else change({ expiresAt: startOf(dayIn(value === "day" ? 30 : Number(value))) });
  };
  const day = form.expiresAt ? new Date(form.expiresAt).toISOString().slice(0, 10) : "";
  return (
    <div className="grid justify-items-start gap-3">
      <span aria-hidden="true" className="font-medium text-sm">
        Until when?
      </span>
      <SegmentedControl legend="Until when?" name="term" options={terms} value={term} onChange={choose} />
      {term === "day" || errors.expires_at ? (
        <FormField
          label="Refused from this day on"
          description="From midnight UTC."
          error={errors.expires_at}
        >
          {(control) => (
            <DateInput
              {...control}
              value={day}
              min={dayIn(1)}
              onChange={({ currentTarget: { value } }) => change({ expiresAt: value && startOf(value) })}
            />
          )}
        </FormField>
      ) : null}
    </div>
  );
}
