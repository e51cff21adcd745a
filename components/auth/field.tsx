import type { ComponentProps, ReactNode } from "react";
import { Input } from "@/components/ui/input";
import { Label } from "@/components/ui/label";

/** A field of a form: what it is, the line to fill in, and a hint. `aside` stands opposite the label. */
export function Field({
  label,
  name,
  hint,
  aside,
  ...props
}: ComponentProps<"input"> & { label: string; name: string; hint?: string; aside?: ReactNode }) {
  return (
    <div className="grid gap-1.5">
      <div className="flex items-baseline justify-between gap-4">
        <Label htmlFor={name}>{label}</Label>
        {aside}
      </div>
      <Input
        id={name}
        name={name}
        required
        {...(hint && { "aria-describedby": `${name}-hint` })}
        {...props}
      />
      {hint ? (
        <p id={`${name}-hint`} className="text-muted-foreground text-xs">
          {hint}
        </p>
      ) : null}
    </div>
  );
}
