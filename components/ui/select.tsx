import { ChevronDown } from "lucide-react";
import type { ComponentProps } from "react";
import { cn } from "./cn";

/** A native select with a styled arrow. */
export function Select({ className, children, ...props }: ComponentProps<"select">) {
  return (
    <span className={cn("relative inline-flex w-full", className)}>
      <select
        // Otherwise a browser would restore the value from when the page was left, which may differ from what the page shows.
        autoComplete="off"
        className="h-10 w-full min-w-0 appearance-none truncate rounded-md border border-input bg-background pr-8 pl-3 text-base outline-offset-1 disabled:opacity-50 aria-invalid:border-destructive sm:h-9 sm:text-sm"
        {...props}
      >
        {children}
      </select>
      <ChevronDown
        aria-hidden="true"
        className="pointer-events-none absolute top-1/2 right-2.5 size-4 -translate-y-1/2 text-muted-foreground"
      />
    </span>
  );
}
