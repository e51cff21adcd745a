import { type Alert, activityUrl, budgetUrl, lastDay, readDetails } from "@/lib/alerts/alert";
import type { Claimed } from "@/lib/alerts/delivery/claimed";

/** A delivery in words, for people. None of it is escaped: each kind of channel escapes in its own way. */
export type Wording = {
  title: string;
  text: string;
  /** Labels and values. */
  facts: [string, string][];
  links: { text: string; url: string }[];
  severity: Severity;
};

/** How serious: from 100 % of a budget, from 80 %, below, or a test. */
export type Severity = "critical" | "warning" | "info" | "test";

const dollars = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" });
const days = new Intl.DateTimeFormat("en-US", { timeZone: "UTC", dateStyle: "medium" });

/** Dollars with two decimals. @param usd exact decimal text, of which no digit passes through a float */
function formatUsd(usd: string): string {
  return dollars.format(usd as `${number}`);
}

const scopes: Record<string, string> = {
  project: "Project",
  feature: "Feature",
  provider: "Provider",
  model: "Model",
  key: "API key",
  user: "Person",
  tag: "Tag",
};

/** The severity of a threshold. @param percent decimal text */
export function severityOf(percent: string): Severity {
  if (Number(percent) >= 100) return "critical";
  return Number(percent) >= 80 ? "warning" : "info";
}

/** Words a delivery. @param base the service's address */
export function wordDelivery({ alert, workspace, channel }: Claimed, base: string): Wording {
  return alert ? wordAlert(alert, workspace, base) : wordTest(channel.name, workspace, base);
}

/** Whether a threshold was set as an amount: its level is `$500`, that of a share `80`. */
const isAmount = ({ level }: Alert) => level.startsWith("$");

function wordAlert(alert: Alert, workspace: Claimed["workspace"], base: string): Wording {
  const details = readDetails(alert);
  const { budget, percent, amount_usd: amount, spent_usd: spent, scope_type: type } = details;
  const period = `${days.format(new Date(details.period_from))} to ${days.format(new Date(lastDay(details.period_until)))}`;
  const scope = alert.project_slug ?? details.scope_value;
  const isUsedUp = Number(percent) === 100;
  return {
    title: isUsedUp ? `The budget ${budget} is used up` : `${percent} % of the budget ${budget} is spent`,
    text: `${formatUsd(spent)} of ${formatUsd(amount)} is spent in the period from ${period}.`,
    facts: [
      ["Workspace", workspace.name],
      ["Spent", formatUsd(spent)],
      ["Budget", formatUsd(amount)],
      ["Threshold", isAmount(alert) ? formatUsd(details.threshold_usd ?? spent) : `${percent} %`],
      ["Period", period],
      // A key's id says nothing to people; the link leads to its rows.
      ...(scope && scopes[type] && type !== "key" ? [[scopes[type], scope] as [string, string]] : []),
    ],
    links: [
      { text: "Open the budget", url: budgetUrl(base, workspace.slug, alert.subject_id) },
      { text: "Show what was spent", url: activityUrl(base, workspace.slug, alert) },
    ],
    severity: severityOf(percent),
  };
}

function wordTest(channel: string, workspace: Claimed["workspace"], base: string): Wording {
  return {
    title: "This is a test",
    text: `The alerts of the workspace ${workspace.name} arrive here, by the channel ${channel}.`,
    facts: [
      ["Workspace", workspace.name],
      ["Channel", channel],
    ],
    links: [{ text: "Open the alerts", url: `${base}/${workspace.slug}/alerts` }],
    severity: "test",
  };
}

/** Text within a limit of a receiver, with an ellipsis where it was cut; never half of a character. */
export function cut(text: string, most: number): string {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join("")}…`;
}
