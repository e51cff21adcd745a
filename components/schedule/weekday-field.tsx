"use client";

import { FormField } from "@/components/ui/form-field";
import { Select } from "@/components/ui/select";
import { type Weekday, weekdays } from "./time-choices";

/** A field for a day of the week. @param props.name the field's name in the form; its value is a `Weekday` */
export function WeekdayField({
  label,
  name,
  chosen = "monday",
  error,
}: {
  label: string;
  name: string;
  /** The initially chosen day. */
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
