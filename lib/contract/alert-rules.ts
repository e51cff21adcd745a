import { z } from "zod";

/** The rules that raise alerts. */
export const alertRules = [
  "budget_threshold",
  "budget_forecast",
  "budget_pace",
  "unusual_day",
  "key_limit",
  "key_expiry",
  "unpriced_usage",
  "silent_source",
] as const;
export const alertRule = z.enum(alertRules).meta({
  id: "AlertRule",
  description: [
    "`budget_threshold`: the spend of a budget's period reached one of its thresholds;",
    "`budget_forecast`: a budget's period is forecast to end above its limit;",
    "`budget_pace`: a budget's spend is far above the same point of its last period;",
    "`unusual_day`: a day costs far more than the same weekdays of four weeks;",
    "`key_limit`: a key is near its monthly limit, or has used it up;",
    "`key_expiry`: a key expires soon, or has expired;",
    "`unpriced_usage`: a model is used that has no price;",
    "`silent_source`: a source that used to send has sent nothing.",
  ].join(" "),
});
export type AlertRule = z.output<typeof alertRule>;

/** What a subject changed to: `ok` where it is over. */
export const alertState = z.enum(["ok", "warning", "alert"]).meta({
  id: "AlertState",
  description: "What the subject changed to. `ok`: what an earlier alert told of is over.",
});
export type AlertState = z.output<typeof alertState>;

export const alertSeverity = z
  .enum(["info", "warning", "critical"])
  .meta({ description: "How serious. What is over, and thresholds below 80 %, are `info`." });
export type AlertSeverity = z.output<typeof alertSeverity>;

export const alertSubjectType = z.enum(["budget", "workspace", "key", "model", "source"]);
export type AlertSubjectType = z.output<typeof alertSubjectType>;
