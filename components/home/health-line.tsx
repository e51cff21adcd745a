import { CircleAlert, CircleCheck } from "lucide-react";
import { cn } from "@/components/ui/cn";

type Checks = Record<"database_readable" | "database_writable", "ok" | "failing">;

/** The health of the service as a sentence with an icon, and its version. */
export function HealthLine({ checks, version }: { checks: Checks; version: string }) {
  const { database_readable: readable, database_writable: writable } = checks;
  const isHealthy = readable === "ok" && writable === "ok";
  const Icon = isHealthy ? CircleCheck : CircleAlert;
  return (
    <p className="flex min-h-6 flex-wrap items-center gap-x-2 text-sm">
      <Icon className={cn("size-4", isHealthy ? "text-success" : "text-warning")} aria-hidden="true" />
      {statusText(checks)}
      <span className="text-muted-foreground">Version {version}</span>
    </p>
  );
}

function statusText({ database_readable: readable, database_writable: writable }: Checks): string {
  if (readable === "failing")
    return "The database does not answer. Recording and reading fail until it does.";
  if (writable === "failing") return "The database cannot be written to. Recording fails until it can.";
  return "The service is healthy.";
}

/** Placeholder of the same size while the health is checked. */
export function HealthLineSkeleton() {
  return (
    <p className="flex min-h-6 items-center gap-2 text-muted-foreground text-sm">
      <span className="size-4 animate-pulse rounded-full bg-accent" aria-hidden="true" />
      Checking the service
    </p>
  );
}
