import { cn } from "./cn";

/** A placeholder for content that is loading. It should have the size of the content. */
export function Skeleton({ className }: { className?: string }) {
  return (
    <span
      aria-hidden="true"
      data-skeleton
      className={cn("block h-4 rounded-sm bg-muted motion-safe:animate-pulse", className)}
    />
  );
}
