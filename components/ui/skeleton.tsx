import { cn } from "@/components/cn";

/** A place that something is about to take. Give it the size of what comes. */
export function Skeleton({ className }: { className?: string }) {
  return (
    <span
      aria-hidden="true"
      className={cn("block h-4 rounded-sm bg-muted motion-safe:animate-pulse", className)}
    />
  );
}
