import { type StoredFigures, storedFigures } from "@/lib/contract/alerts/alert-figures";
import type {
  AlertRule,
  AlertSeverity,
  AlertState,
  AlertSubjectType,
} from "@/lib/contract/alerts/alert-rules";

/** An alert as `private.raise_alerts` recorded it. */
export type Alert = {
  id: string;
  rule: AlertRule;
  state: AlertState;
  level: string;
  /** The first day of the period in which it fires once. */
  period: string;
  subject_type: AlertSubjectType;
  subject_id: string;
  /** The figures, the subject's name and the period; see `readFigures` and `readContext`. */
  details: unknown;
  fired_at: string;
  /** The slug of the project that the budget is limited to; null if there is none. */
  project_slug: string | null;
};

type Recorded = Pick<Alert, "rule" | "details">;

/** The figures that were recorded with an alert. @throws Error if there are none */
export function readFigures<R extends AlertRule>({
  rule,
  details,
}: {
  rule: R;
  details: unknown;
}): Extract<StoredFigures, { rule: R }> {
  return storedFigures.parse({ ...Object(details), rule }) as Extract<StoredFigures, { rule: R }>;
}

/** The figures of an alert with the project of a budget named by its slug, as in the API, instead of by its id. */
export function namedFigures(alert: Pick<Alert, "rule" | "details" | "project_slug">): StoredFigures {
  const figures = readFigures(alert);
  return "scope_type" in figures
    ? { ...figures, scope_value: alert.project_slug ?? figures.scope_value }
    : figures;
}

/** Why an alert ended: the subject recovered, the period ended, or the subject was deleted or revoked. */
export type EndReason = "recovered" | "period_over" | "gone";

/** The part of an alert's details that all rules share. */
export function readContext({ details }: Recorded): {
  /** The subject's name when the alert was recorded. */
  name: string;
  /** The first day of the period, and the first day after it; null for a rule without periods. */
  period: { from: string; until: string } | null;
  because: EndReason;
} {
  const stored: Record<string, unknown> = Object(details);
  const { budget, subject = budget, period_from: from, period_until: until, because } = stored;
  return {
    name: String(subject ?? ""),
    period: typeof from === "string" && typeof until === "string" ? { from, until } : null,
    because: because === "period_over" || because === "gone" ? because : "recovered",
  };
}

/** The last day of a period. @param until the first day after it, `YYYY-MM-DD` */
export function lastDay(until: string): string {
  return new Date(Date.parse(until) - 86_400_000).toISOString().slice(0, 10);
}

/** How serious an alert is. */
export function severityOf(alert: Pick<Alert, "rule" | "state" | "details">): AlertSeverity {
  if (alert.state === "ok") return "info";
  if (alert.state === "alert") return "critical";
  const { rule, details } = alert;
  if (rule !== "budget_threshold") return "warning";
  return Number(readFigures({ rule, details }).percent) >= 80 ? "warning" : "info";
}
