import { cn } from "./cn";

/** The first letter of a name in a circle. Hidden from screen readers, as the name is beside it. */
export function Avatar({ name, className }: { name: string; className?: string }) {
  return (
    <span
      aria-hidden="true"
      className={cn(
        "flex size-8 shrink-0 items-center justify-center rounded-full bg-secondary font-medium text-xs",
        className,
      )}
    >
      {name.charAt(0).toUpperCase()}
    </span>
  );
}
