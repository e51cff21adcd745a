"use client";

import { FormField } from "@/components/ui/form-field";
import { Select } from "@/components/ui/select";
import { type Weekday, weekdays } from "./time-choices";

/** Chooses a day of the week. @param props.name of the field in the form, whose value is a `Weekday` */
export function WeekdayField({
  label,
  name,
  chosen = "monday",
  error,
}: {
  label: string;
  name: string;
  /** The day that is chosen at first. */
  chosen?: Weekday | undefined;
  error: string | undefined;
}) {
  return (
    <FormField label={label} error={error}>
      {(control) => (
        <Select {...control} name={name} defaultValue={chosen}>
          {weekdays.map(({ value, label: day }) => (
            <option key={value} value={value}>
              {day}
            </option>
          ))}
        </Select>
      )}
    </FormField>
  );
}
