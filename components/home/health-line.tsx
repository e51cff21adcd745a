import { CircleAlert, CircleCheck } from "lucide-react";
import { cn } from "@/components/cn";

type Checks = Record<"database_readable" | "database_writable", "ok" | "failing">;

/** Whether the service is well, in words and with a sign. */
export function HealthLine({ checks, version }: { checks: Checks; version: string }) {
  const { database_readable: readable, database_writable: writable } = checks;
  const well = readable === "ok" && writable === "ok";
  const Icon = well ? CircleCheck : CircleAlert;
  return (
    <p className="flex min-h-6 flex-wrap items-center gap-x-2 text-sm">
      <Icon className={cn("size-4", well ? "text-success" : "text-warning")} aria-hidden="true" />
      {wordOf(checks)}
      <span className="text-muted-foreground">Version {version}</span>
    </p>
  );
}

function wordOf({ database_readable: readable, database_writable: writable }: Checks): string {
  if (readable === "failing")
    return "The database does not answer; recording and reading fail until it does.";
  if (writable === "failing")
    return "The database stores nothing at the moment; recording fails until it does.";
  return "The service is well.";
}

/** Stands where the line will be while the database is asked. */
export function HealthLineSkeleton() {
  return (
    <p className="flex min-h-6 items-center gap-2 text-muted-foreground text-sm">
      <span className="size-4 animate-pulse rounded-full bg-accent" aria-hidden="true" />
      Checking the service
    </p>
  );
}
