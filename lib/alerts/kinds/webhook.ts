import { Webhook } from "standardwebhooks";
import { type Alert, namedFigures, readContext, severityOf } from "@/lib/alerts/alert";
import type { Claimed } from "@/lib/alerts/delivery/claimed";
import type { OutgoingRequest } from "@/lib/alerts/delivery/post";
import { linksOf } from "@/lib/alerts/links";
import { wordsOf } from "@/lib/alerts/words";
import { toInstant } from "@/lib/contract/values/instant";
import { budgetRequestPayload } from "./budget-request";

/**
 * A webhook, signed according to Standard Webhooks (https://www.standardwebhooks.com) with every secret of the channel, so that a
 * receiver can replace its secret during a rotation. `webhook-id` is the same in every attempt.
 */
export function webhookRequest(delivery: Claimed, url: string, base: string, now: number): OutgoingRequest {
  const body = JSON.stringify(payloadOf(delivery, base, now));
  const at = new Date(now);
  const signatures = delivery.channel.signing_secrets.map((secret) =>
    new Webhook(secret).sign(delivery.id, at, body),
  );
  return {
    url,
    headers: {
      "webhook-id": delivery.id,
      "webhook-timestamp": String(Math.floor(now / 1000)),
      "webhook-signature": signatures.join(" "),
    },
    body,
  };
}

/** The body. `timestamp`: when the alert fired; now for a digest or a test. Money is decimal text, so that no parser rounds it. */
function payloadOf({ kind, alert, digest, workspace, channel, details }: Claimed, base: string, now: number) {
  if (kind === "budget_request" && details) return budgetRequestPayload(details, workspace, base);
  if (alert) {
    return {
      type: alert.state === "ok" ? "alert.resolved" : "alert.fired",
      timestamp: toInstant(Date.parse(alert.fired_at)),
      data: dataOf(alert, workspace, base),
    };
  }
  const about = {
    workspace,
    channel: { id: channel.id, name: channel.name },
    url: `${base}/${workspace.slug}/alerts`,
  };
  if (!digest) return { type: "alert.test", timestamp: toInstant(now), data: about };
  const alerts = digest.alerts.map((each) => ({
    fired_at: toInstant(Date.parse(each.fired_at)),
    ...dataOf(each, workspace, base),
  }));
  return { type: "alert.digest", timestamp: toInstant(now), data: { ...about, count: digest.count, alerts } };
}

function dataOf(alert: Alert, workspace: Claimed["workspace"], base: string) {
  const { name, period } = readContext(alert);
  const { title, text } = wordsOf(alert);
  const [subjectLink, rowsLink] = linksOf(alert, workspace.slug, base);
  return {
    id: alert.id,
    rule: alert.rule,
    state: alert.state,
    severity: severityOf(alert),
    level: alert.level,
    workspace,
    subject: { type: alert.subject_type, id: alert.subject_id, name },
    period,
    title,
    summary: text,
    figures: namedFigures(alert),
    url: subjectLink?.url ?? null,
    activity_url: rowsLink?.url ?? null,
  };
}
