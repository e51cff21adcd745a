import { CircleAlert, CircleCheck, Info, TriangleAlert } from "lucide-react";
import type { FiredAlert } from "@/lib/contract/alerts/alerts";

/** A mark that shows by shape and colour how serious an alert is, or that it is over. */
export function AlertMark({ state, severity }: Pick<FiredAlert, "state" | "severity">) {
  if (state === "ok") return <CircleCheck aria-label="Over" className="mt-0.5 size-4 text-success" />;
  if (severity === "critical")
    return <CircleAlert aria-label="Alert" className="mt-0.5 size-4 text-destructive" />;
  if (severity === "warning")
    return <TriangleAlert aria-label="Warning" className="mt-0.5 size-4 text-warning" />;
  return <Info aria-label="Notice" className="mt-0.5 size-4 text-muted-foreground" />;
}
