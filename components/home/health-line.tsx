import { CircleAlert, CircleCheck } from "lucide-react";
import { cn } from "@/components/cn";

/** Whether the service is well, in words and with a sign. */
export function HealthLine({ status, version }: { status: "ok" | "degraded"; version: string }) {
  const well = status === "ok";
  const Icon = well ? CircleCheck : CircleAlert;
  return (
    <p className="flex min-h-6 flex-wrap items-center gap-x-2 text-sm">
      <Icon className={cn("size-4", well ? "text-success" : "text-warning")} aria-hidden="true" />
      {well
        ? "The service is well."
        : "The database does not answer; recording and reading fail until it does."}
      <span className="text-muted-foreground">Version {version}</span>
    </p>
  );
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
