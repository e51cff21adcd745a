import type { ComponentProps } from "react";
import { cn } from "./cn";

/** A multi-line text input that grows with its text. */
export function Textarea({ className, ...props }: ComponentProps<"textarea">) {
  return (
    <textarea
      className={cn(
        "field-sizing-content max-h-64 min-h-20 w-full min-w-0 rounded-md border border-input bg-background px-3 py-2 text-base outline-offset-1 placeholder:text-muted-foreground disabled:opacity-50 aria-invalid:border-destructive sm:text-sm",
        className,
      )}
      {...props}
    />
  );
}
