import { formatCount } from "@/components/figures/format-count";
import { formatExactUsd } from "@/components/figures/format-money";
import { formatExactPercent } from "@/components/figures/format-percent";
import type { AlertRule, AlertRuleSetting } from "@/lib/contract/alerts/alert-rules";

/** The names of the rules, in the order in which they are listed. */
export const ruleNames: Record<AlertRule, string> = {
  budget_threshold: "Budget thresholds",
  budget_forecast: "Budget forecast",
  budget_pace: "Budget pace",
  unusual_day: "Unusual day",
  key_limit: "Key near its limit",
  key_expiry: "Key near its expiry",
  unpriced_usage: "Usage without a price",
  silent_source: "Silent source",
  bill_coverage: "Bills not recorded",
  bill_difference: "Bills that differ",
  provider_limit: "Limit at a provider",
  refused_costs: "Refused costs",
};

/** When a rule fires, in words, with its parameter. */
export function describeRule({ rule, parameter }: AlertRuleSetting): string {
  const value = parameter?.value ?? 0;
  const count = (unit: string) => formatCount(value, unit);
  switch (rule) {
    case "budget_threshold":
      return "A budget reaches a threshold. Set the thresholds on each budget.";
    case "budget_forecast":
      return value === 100
        ? "A budget is forecast to end its period above its limit."
        : `A budget is forecast to end its period above ${formatExactPercent(value)} of its limit.`;
    case "budget_pace":
      return `A budget has spent ${formatExactPercent(value)} of what was spent by the same point of its previous period.`;
    case "unusual_day":
      return `A day costs much more than the same weekday of the last four weeks, and at least ${formatExactUsd(value, true)} more.`;
    case "key_limit":
      return `A key has spent ${formatExactPercent(value)} of its monthly limit. It alerts again when the limit is used up.`;
    case "key_expiry":
      return `A key expires within ${count("day")}. It alerts again when the key has expired.`;
    case "unpriced_usage":
      return "A model without a price is used.";
    case "bill_coverage":
      return `Less than ${formatExactPercent(value)} of what providers billed in a month is recorded.`;
    case "bill_difference":
      return `What providers billed in a month and what was recorded on the billed days differ by ${formatExactUsd(value, true)} or more.`;
    case "provider_limit":
      return "A provider holds another limit than the budget that sets it, or refuses it.";
    case "refused_costs":
      return `A budget that blocks, or the monthly limit of a key, refused ${formatExactUsd(value, true)} or more in its period.`;
    case "silent_source":
      return `A source that used to send has sent nothing for ${count("hour")}.`;
  }
}

/** The label of the field for a rule's parameter. */
export const parameterLabels: Partial<Record<AlertRule, string>> = {
  budget_forecast: "Percent of the limit",
  budget_pace: "Percent of the previous period",
  unusual_day: "Minimum amount, USD",
  key_limit: "Percent of the monthly limit",
  key_expiry: "Days before",
  silent_source: "Hours",
  bill_coverage: "Percent recorded",
  bill_difference: "Minimum difference, USD",
  refused_costs: "Minimum amount, USD",
};

/** A rule's state, in a word, and the badge that shows it. */
export const stateLabels: Record<
  AlertRuleSetting["state"],
  { label: string; variant: "success" | "warning" | "destructive" | "outline" }
> = {
  ok: { label: "OK", variant: "success" },
  warning: { label: "Warning", variant: "warning" },
  alert: { label: "Alert", variant: "destructive" },
  no_data: { label: "No data", variant: "outline" },
  off: { label: "Off", variant: "outline" },
};
