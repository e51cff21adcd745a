import type { ComponentProps } from "react";
import { cn } from "./cn";

/** The label of a control. */
export function Label({ className, htmlFor, children, ...props }: ComponentProps<"label">) {
  return (
    <label htmlFor={htmlFor} className={cn("font-medium text-sm", className)} {...props}>
      {children}
    </label>
  );
}
