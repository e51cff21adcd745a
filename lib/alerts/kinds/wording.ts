import { type Alert, severityOf } from "@/lib/alerts/alert";
import type { Claimed } from "@/lib/alerts/delivery/claimed";
import { type AlertLink, linksOf } from "@/lib/alerts/links";
import { wordsOf } from "@/lib/alerts/words";
import type { AlertWords } from "@/lib/alerts/words/values";
import { wordBudgetRequest } from "./budget-request";

/** A delivery in words, for people. Nothing is escaped here: each kind of channel escapes in its own way. */
export type Wording = AlertWords & { links: AlertLink[]; severity: Severity };

/** An alert's severity, or `test`. */
export type Severity = ReturnType<typeof severityOf> | "test";

/** Words a delivery. @param base the service's address */
export function wordDelivery(
  { kind, alert, digest, workspace, channel, details }: Claimed,
  base: string,
): Wording {
  if (kind === "budget_request" && details) return wordBudgetRequest(details, workspace, base);
  if (alert) return wordAlert(alert, workspace, base);
  return digest ? wordDigest(digest, workspace, base) : wordTest(channel.name, workspace, base);
}

/** The most alerts of a digest that a message in a chat lists. Slack shows ten fields at most. */
const listed = 9;

/** Words a digest: its alerts are the facts, the newest first. */
function wordDigest(
  { count, alerts }: NonNullable<Claimed["digest"]>,
  workspace: Claimed["workspace"],
  base: string,
): Wording {
  const facts = alerts.slice(0, listed).map((alert): [string, string] => {
    const { title, text } = wordsOf(alert);
    return [title, text];
  });
  const severities = alerts.map(severityOf);
  return {
    ...digestHead(count, workspace),
    facts: count > facts.length ? [...facts, ["And", `${count - facts.length} more`]] : facts,
    links: [{ text: "Open the alerts", url: `${base}/${workspace.slug}/alerts` }],
    severity: (["critical", "warning"] as const).find((each) => severities.includes(each)) ?? "info",
  };
}

/** The title and the sentence of a digest. */
export function digestHead(count: number, workspace: Claimed["workspace"]): Pick<Wording, "title" | "text"> {
  return count === 1
    ? { title: `1 alert of ${workspace.name}`, text: "It has fired since the last digest." }
    : { title: `${count} alerts of ${workspace.name}`, text: "They have fired since the last digest." };
}

/** Words an alert. @param base the service's address */
export function wordAlert(alert: Alert, workspace: Claimed["workspace"], base: string): Wording {
  const words = wordsOf(alert);
  return {
    ...words,
    facts: [["Workspace", workspace.name], ...words.facts],
    links: linksOf(alert, workspace.slug, base),
    severity: severityOf(alert),
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

/** Cuts text to a receiver's limit, with an ellipsis at the cut. Never splits a character (a surrogate pair). */
export function cut(text: string, most: number): string {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join("")}…`;
}
