import type { ComponentProps, ReactNode } from "react";
import { cn } from "@/components/cn";

type ChoiceProps = Omit<ComponentProps<"input">, "type"> & { label: ReactNode; description?: ReactNode };

/** Yes or no, with what it means beside it. */
export function Checkbox(props: ChoiceProps) {
  return <Choice type="checkbox" {...props} />;
}

/** One of several; those with the same `name` exclude each other. */
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
