import { capitalize } from "@/components/figures/capitalize";
import { formatExactPercent } from "@/components/figures/format-percent";
import type { AlertChannel, ChannelKind } from "@/lib/contract/alerts/alert-channels";
import { ruleNames } from "./rule-view";

/** Id of the element that gets the focus when a channel leaves the page. */
export const channelsId = "alert-channels";

/** The kinds of channels, in the order in which the form offers them. */
export const kinds: { value: ChannelKind; label: string }[] = [
  { value: "email", label: "E-mail" },
  { value: "slack", label: "Slack" },
  { value: "discord", label: "Discord" },
  { value: "teams", label: "Microsoft Teams" },
  { value: "pagerduty", label: "PagerDuty" },
  { value: "webhook", label: "Webhook" },
];

/** The name of a kind. */
export function kindLabel(kind: ChannelKind): string {
  return kinds.find(({ value }) => value === kind)?.label ?? kind;
}

/** What a channel receives, in words. */
export function describeWanted({
  rules,
  least_percent: least,
}: Pick<AlertChannel, "rules" | "least_percent">): string {
  const all = Object.keys(ruleNames).length;
  const which =
    rules === null
      ? "All rules"
      : rules.length === 1 && rules[0]
        ? ruleNames[rules[0]]
        : `${rules.length} of ${all} rules`;
  const hasThresholds = rules === null || rules.includes("budget_threshold");
  return hasThresholds && least !== null
    ? `${which} · Thresholds from ${formatExactPercent(least)} on`
    : which;
}

/** When a channel's digest is sent, in words; undefined if each alert is sent at once. */
export function describeDigest({ digest }: Pick<AlertChannel, "digest">): string | undefined {
  if (!digest) return undefined;
  const { weekday, at, time_zone: zone } = digest;
  const day = weekday ? `each ${capitalize(weekday)}` : "each day";
  return `as a digest ${day} at ${at}, ${zone}`;
}

/** Why a channel is off, in words; undefined if it is on. */
export function describeOff({
  disabled_reason: reason,
}: Pick<AlertChannel, "disabled_reason">): string | undefined {
  switch (reason) {
    case "failing":
      return "Turned off after a day of failed deliveries. Alerts are kept for up to three days: turn the channel on to send them.";
    case "gone":
      return "Turned off because the receiver answered 410 (Gone).";
    case "by_admin":
      return "Turned off by an admin.";
    case null:
      return undefined;
  }
}
