"use client";

import { type ReactNode, useId } from "react";
import { Label } from "./label";

/** What a control needs to belong to its field. */
export type ControlProps = { id: string; "aria-describedby"?: string; "aria-invalid"?: true };

/**
 * A field of a form: what it is, the control, a hint, and what is wrong with it. The control gets its ties from here:
 * `<FormField label="Name">{(control) => <Input {...control} name="name" />}</FormField>`.
 */
export function FormField({
  label,
  description,
  error,
  optional = false,
  children,
}: {
  label: string;
  description?: ReactNode;
  error?: string | undefined;
  optional?: boolean;
  children: (control: ControlProps) => ReactNode;
}) {
  const id = useId();
  const described = [description && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ");
  return (
    <div className="grid gap-1.5">
      <div className="flex items-baseline justify-between gap-4">
        <Label htmlFor={id}>{label}</Label>
        {optional ? <span className="text-muted-foreground text-xs">optional</span> : null}
      </div>
      {children({
        id,
        ...(described && { "aria-describedby": described }),
        ...(error && { "aria-invalid": true }),
      })}
      {error ? (
        <p id={`${id}-error`} role="alert" className="text-destructive text-xs">
          {sentence(error)}
        </p>
      ) : null}
      {description ? (
        <p id={`${id}-hint`} className="text-muted-foreground text-xs">
          {description}
        </p>
      ) : null}
    </div>
  );
}

/** The API says "must be greater than 0" beside a path; under a field it is a sentence. */
function sentence(text: string): string {
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}
