import { cva, type VariantProps } from "class-variance-authority";
import type { ComponentProps } from "react";
import { cn } from "./cn";

const alertVariants = cva("rounded-md border px-3.5 py-2.5 text-sm", {
  variants: {
    variant: {
      default: "bg-muted",
      warning: "border-warning/30 bg-warning/10 text-warning",
      destructive: "border-destructive/30 bg-destructive/10 text-destructive",
    },
  },
  defaultVariants: { variant: "default" },
});

/** A highlighted message. Warnings and errors are announced by screen readers when they appear. */
export function Alert({
  className,
  variant,
  ...props
}: ComponentProps<"div"> & VariantProps<typeof alertVariants>) {
  const role = variant && variant !== "default" ? "alert" : undefined;
  return <div role={role} className={cn(alertVariants({ variant }), className)} {...props} />;
}
