import type { ReactNode } from "react";
import { cn } from "./cn";

/** A switch that takes effect at once. `children` are its label. */
export function Switch({
  checked,
  onCheckedChange,
  className,
  children,
}: {
  checked: boolean;
  onCheckedChange: (checked: boolean) => void;
  className?: string;
  children: ReactNode;
}) {
  return (
    <label className={cn("inline-flex h-8 cursor-pointer items-center gap-2 text-[13px]", className)}>
      <input
        type="checkbox"
        role="switch"
        checked={checked}
        aria-checked={checked}
        onChange={({ currentTarget }) => onCheckedChange(currentTarget.checked)}
        className="h-[18px] w-8 shrink-0 cursor-pointer appearance-none rounded-full bg-muted-foreground/70 outline-offset-2 transition-colors duration-100 before:m-0.5 before:block before:size-3.5 before:rounded-full before:bg-background before:transition-transform before:duration-100 checked:bg-primary checked:before:translate-x-3.5"
      />
      {children}
    </label>
  );
}
