import { readContext, severityOf } from "@/lib/alerts/alert";
import type { Claimed, ClaimedAlertMail } from "@/lib/alerts/delivery/claimed";
import { linksOf } from "@/lib/alerts/links";
import { mailContent } from "@/lib/alerts/mail/content";
import type { MailContent } from "@/lib/alerts/mail/send-mail";
import { wordsOf } from "@/lib/alerts/words";
import { digestHead, wordAlert, wordDelivery } from "./wording";

/** A delivery as mail. @param base the service's address */
export function alertMail(delivery: Claimed, base: string): MailContent {
  const { slug, name } = delivery.workspace;
  const text = `You receive this because an admin of the workspace ${name} added your address to its alerts: ${base}/${slug}/alerts/rules`;
  return mailContent(
    delivery.digest
      ? wordMailDigest(delivery.digest, delivery.workspace, base)
      : wordDelivery(delivery, base),
    {
      text,
    },
  );
}

/** An alert as mail to a member whom its budget names. @param base the service's address */
export function budgetMail({ alert, workspace }: ClaimedAlertMail, base: string): MailContent {
  const { name } = readContext(alert);
  return mailContent(wordAlert(alert, workspace, base), {
    text: `You receive this because the budget ${name} of the workspace ${workspace.name} warns you: ${base}/${workspace.slug}/budgets`,
  });
}

const severities = { critical: "Alert", warning: "Warning", info: "Notice" } as const;
/** Words a digest with a list of its alerts (of the newest hundred). Times are in the channel's time zone. */
function wordMailDigest(
  digest: NonNullable<Claimed["digest"]>,
  workspace: Claimed["workspace"],
  base: string,
) {
  const { count, alerts, time_zone: timeZone } = digest;
  const moments = new Intl.DateTimeFormat("en-US", { timeZone, dateStyle: "medium", timeStyle: "short" });
  const entries = alerts.map((alert) => {
    const { title, text } = wordsOf(alert);
    const [page] = linksOf(alert, workspace.slug, base);
    return {
      name: title,
      ...(page && { url: page.url }),
      value: alert.state === "ok" ? "Over" : severities[severityOf(alert)],
      note: `${text} ${moments.format(new Date(alert.fired_at))}.`,
    };
  });
  const rest = count - alerts.length;
  const facts: [string, string][] = [["Times in", timeZone]];
  return {
    ...digestHead(count, workspace),
    facts: rest > 0 ? [...facts, ["Not listed", `${rest} earlier ones`] as [string, string]] : facts,
    sections: [{ heading: "The newest first", entries }],
    links: [{ text: "Open the alerts", url: `${base}/${workspace.slug}/alerts` }],
  };
}
