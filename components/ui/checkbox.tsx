import type { ComponentProps, ReactNode } from "react";
import { cn } from "./cn";

type ChoiceProps = Omit<ComponentProps<"input">, "type"> & { label: ReactNode; description?: ReactNode };

/** A checkbox with its label and description. */
export function Checkbox(props: ChoiceProps) {
  return <Choice type="checkbox" {...props} />;
}

/** A radio button with its label and description. One of those with the same `name` can be chosen. */
export function Radio(props: ChoiceProps) {
  return <Choice type="radio" {...props} />;
}

function Choice({ label, description, className, ...props }: ChoiceProps & { type: "checkbox" | "radio" }) {
  return (
    <label className="flex gap-2.5 text-sm has-disabled:opacity-50">
      <input className={cn("mt-0.5 size-4 shrink-0 accent-primary", className)} {...props} />
      <span className="grid gap-0.5">
        <span>{label}</span>
        {description ? <span className="text-muted-foreground text-xs">{description}</span> : null}
      </span>
    </label>
  );
}
