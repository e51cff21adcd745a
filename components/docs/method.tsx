import { cn } from "@/components/cn";

const colours: Record<string, string> = {
  GET: "text-(--code-string)",
  POST: "text-primary",
  PUT: "text-(--code-number)",
  PATCH: "text-(--code-number)",
  DELETE: "text-destructive",
};

/** An HTTP method in its colour. */
export function Method({ method, className }: { method: string; className?: string }) {
  return (
    <span className={cn("font-medium font-mono text-[11px] uppercase", colours[method], className)}>
      {method}
    </span>
  );
}
