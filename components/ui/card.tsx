import type { ComponentProps } from "react";
import { cn } from "@/components/cn";

/** A part of a page with a line round it. */
export function Card({ className, ...props }: ComponentProps<"section">) {
  return (
    <section className={cn("min-w-0 rounded-lg border bg-card text-card-foreground", className)} {...props} />
  );
}

/** Its heading, with room for something on the right. */
export function CardHeader({ className, ...props }: ComponentProps<"header">) {
  return (
    <header
      className={cn(
        "flex min-h-11 flex-wrap items-center justify-between gap-x-4 gap-y-1 px-4 pt-3",
        className,
      )}
      {...props}
    />
  );
}

/** What it is called. */
export function CardTitle({ className, children, ...props }: ComponentProps<"h2">) {
  return (
    <h2 className={cn("font-medium text-sm", className)} {...props}>
      {children}
    </h2>
  );
}

/** What it shows. */
export function CardContent({ className, ...props }: ComponentProps<"div">) {
  return <div className={cn("px-4 pt-2 pb-4", className)} {...props} />;
}
