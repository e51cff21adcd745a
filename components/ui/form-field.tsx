"use client";

import { type ComponentProps, type ReactNode, useId } from "react";
import { capitalize } from "@/components/figures/capitalize";
import { Input } from "./input";
import { Label } from "./label";

/** Attributes that connect a control to its label, its description and its error. */
export type ControlProps = { id: string; "aria-describedby"?: string; "aria-invalid"?: true };

type FieldProps = {
  label: string;
  /** Shown below the control. */
  description?: ReactNode;
  /** The error of the value, in the words of the API: "must be greater than 0". */
  error?: string | undefined;
  /** True to write "optional" opposite the label. */
  optional?: boolean;
  /** Shown opposite the label, such as a link. */
  aside?: ReactNode;
};

/**
 * A field of a form: label, control, error and description. The control gets its attributes from here:
 * `<FormField label="Name">{(control) => <Input {...control} name="name" />}</FormField>`.
 */
export function FormField({
  label,
  description,
  error,
  optional = false,
  aside,
  children,
}: FieldProps & { children: (control: ControlProps) => ReactNode }) {
  const id = useId();
  const describedBy = [description && `${id}-description`, error && `${id}-error`].filter(Boolean).join(" ");
  return (
    <div className="grid gap-1.5">
      <div className="flex items-baseline justify-between gap-4">
        <Label htmlFor={id}>{label}</Label>
        {optional ? <span className="text-muted-foreground text-xs">optional</span> : aside}
      </div>
      {children({
        id,
        ...(describedBy && { "aria-describedby": describedBy }),
        ...(error && { "aria-invalid": true }),
      })}
      {error ? (
        <p id={`${id}-error`} role="alert" className="text-destructive text-xs">
          {toSentence(error)}
        </p>
      ) : null}
      {description ? (
        <p id={`${id}-description`} className="text-muted-foreground text-xs">
          {description}
        </p>
      ) : null}
    </div>
  );
}

/** A FormField with a one-line text input; other props go to the input. */
export function TextField({
  label,
  description,
  error,
  optional,
  aside,
  ...input
}: FieldProps & Omit<ComponentProps<typeof Input>, "id">) {
  return (
    <FormField
      label={label}
      description={description}
      error={error}
      aside={aside}
      {...(optional !== undefined && { optional })}
    >
      {(control) => <Input {...control} {...input} />}
    </FormField>
  );
}

/** "must be greater than 0" as "Must be greater than 0." */
function toSentence(text: string): string {
  const sentence = capitalize(text);
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
