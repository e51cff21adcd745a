"use client";

import { type ComponentProps, useEffect, useRef } from "react";

/**
 * A form that a script sends. If fields become invalid after sending, the first of them gets the focus, unless the user has
 * continued to type.
 * @param props.onSubmit called with the fields of the form
 */
export function Form({
  onSubmit,
  onInput,
  ...props
}: Omit<ComponentProps<"form">, "onSubmit"> & { onSubmit: (fields: FormData) => unknown }) {
  const form = useRef<HTMLFormElement>(null);
  const awaitsErrors = useRef(false);
  // Runs after every render, because errors appear with the answer to the request.
  useEffect(() => {
    if (!awaitsErrors.current) return;
    const invalid = form.current?.querySelector<HTMLElement>("[aria-invalid]");
    if (!invalid) return;
    awaitsErrors.current = false;
    invalid.focus();
  });
  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        awaitsErrors.current = true;
        onSubmit(new FormData(event.currentTarget));
      }}
      onInput={(event) => {
        awaitsErrors.current = false;
        onInput?.(event);
      }}
      {...props}
    />
  );
}

/** A text field of a sent form without surrounding spaces; empty when the form has no such field. */
export function textOf(fields: FormData, name: string): string {
  return String(fields.get(name) ?? "").trim();
}
