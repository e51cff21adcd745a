"use client";

import { Combobox } from "@/components/ui/combobox";
import { FormField } from "@/components/ui/form-field";
import { zones } from "./time-choices";

/** A field for a time zone by its IANA name. @param props.zone the chosen zone; empty for none */
export function TimeZoneField({
  zone,
  onZone,
  description,
  error,
}: {
  zone: string[];
  onZone: (zone: string[]) => void;
  description?: string;
  error: string | undefined;
}) {
  return (
    <FormField label="Time zone" description={description} error={error}>
      {(control) => (
        <Combobox
          {...control}
          options={zones}
          value={zone}
          onChange={onZone}
          limit={1}
          placeholder="Type to search"
        />
      )}
    </FormField>
  );
}
