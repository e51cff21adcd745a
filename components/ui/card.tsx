import type { ComponentProps } from "react";
import { cn } from "./cn";

/** A section of a page with a border. */
export function Card({ className, ...props }: ComponentProps<"section">) {
  return (
    <section className={cn("min-w-0 rounded-lg border bg-card text-card-foreground", className)} {...props} />
  );
}
