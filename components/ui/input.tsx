import type { ComponentProps } from "react";
import { cn } from "./cn";

/** A one-line text input. */
export function Input({ className, ...props }: ComponentProps<"input">) {
  return (
    <input
      className={cn(
        // 16 px on phones, because they zoom in on inputs with smaller text.
        "h-10 w-full min-w-0 rounded-md border border-input bg-background px-3 text-base outline-offset-1 placeholder:text-muted-foreground disabled:opacity-50 aria-invalid:border-destructive sm:h-9 sm:text-sm",
        className,
      )}
      {...props}
    />
  );
}
