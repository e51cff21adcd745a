import { createHash } from "node:crypto";
import { namedFigures } from "@/lib/alerts/alert";
import type { Claimed } from "@/lib/alerts/delivery/claimed";
import type { OutgoingRequest } from "@/lib/alerts/delivery/post";
import { toInstant } from "@/lib/contract/values/instant";
import { cut, type Wording } from "./wording";

/** Where events are sent, by the region of the PagerDuty account. A routing key belongs to one region. */
export const pagerdutyAddresses = {
  us: "https://events.pagerduty.com/v2/enqueue",
  eu: "https://events.eu.pagerduty.com/v2/enqueue",
} as const;

/**
 * An event of PagerDuty's Events API v2 (https://developer.pagerduty.com/docs/send-alert-event). All alerts of one rule, subject
 * and period are one incident, which is resolved when the alert is over. Each digest is an incident of its own.
 * @param address the region and the routing key: `eu R0UT1NGK3Y`
 */
export function pagerdutyRequest(
  { id, alert, digest, workspace, channel, workspace_id }: Claimed,
  { title, text, facts, links, severity }: Wording,
  address: string,
  base: string,
  now: number,
): OutgoingRequest {
  const [region, routingKey] = address.split(" ");
  const event = {
    routing_key: routingKey,
    event_action: alert?.state === "ok" ? "resolve" : "trigger",
    dedup_key: alert
      ? dedupKey([workspace_id, alert.rule, alert.subject_id, alert.period])
      : digest
        ? dedupKey([workspace_id, "digest", id])
        : dedupKey([workspace_id, "test", channel.id]),
    payload: {
      summary: cut(`${title}: ${text}`, 1024),
      source: base,
      severity: severity === "test" ? "info" : severity,
      timestamp: toInstant(alert ? Date.parse(alert.fired_at) : now),
      group: workspace.slug,
      class: alert?.rule ?? (digest ? "digest" : "test"),
      custom_details: {
        ...Object.fromEntries(facts),
        ...(alert && namedFigures(alert)),
      },
    },
    client: "Outlay",
    client_url: links[0]?.url,
    links: links.map((link) => ({ href: link.url, text: link.text })),
  };
  return {
    url: pagerdutyAddresses[region === "eu" ? "eu" : "us"],
    headers: {},
    body: JSON.stringify(event),
  };
}

/** A deduplication key of at most 255 characters, PagerDuty's limit. A longer one is replaced by its hash. */
function dedupKey(parts: string[]): string {
  const key = ["outlay", ...parts].join("/");
  return key.length <= 255 ? key : `outlay/${createHash("sha256").update(key).digest("hex")}`;
}
