import { z } from "zod";
import { workspaceSlug } from "@/lib/contract/access/workspace";
import { day, instant, rowLimit, text, uuid } from "@/lib/contract/values/fields";
import { channelKinds } from "./alert-channels";
import { alertFigures } from "./alert-figures";
import { alertRule, alertSeverity, alertState, alertSubjectType, snoozed } from "./alert-rules";

const maxRows = 100;
const defaultRows = 25;

/** A page of a list, the newest first. */
const page = {
  limit: rowLimit(maxRows, defaultRows),
  cursor: text(500).optional().meta({ description: "`next_cursor` of the previous answer, unchanged." }),
};
const nextCursor = z.string().nullable().meta({ description: "Null if there are no older ones." });

export const alertQuery = z.strictObject(page);
export type AlertQuery = z.output<typeof alertQuery>;

const state = z.enum(["pending", "delivered", "dead", "cancelled", "collected"]).meta({
  description:
    "`pending`: it is being sent, or will be tried again; `dead`: it was given up, and can be sent again; `cancelled`: the channel was turned off or deleted before; `collected`: it waits for the channel's next digest.",
});
export type DeliveryState = z.output<typeof state>;

/** The outcome of a delivery's last attempt. */
const outcome = {
  state,
  attempts: z.int(),
  last_status: z.int().nullable().meta({ description: "The HTTP status of the last answer." }),
  last_error: z.string().nullable().meta({ description: "What went wrong the last time, in words." }),
  next_attempt_at: instant.nullable().meta({ description: "When a pending one is tried next." }),
  delivered_at: instant.nullable(),
  created_at: instant,
};

export const alertDelivery = z
  .object({
    id: uuid.meta({ description: "Sent along as `webhook-id`, the same in every attempt." }),
    channel_id: uuid,
    is_test: z.boolean(),
    alert: z
      .object({ id: uuid, rule: alertRule, state: alertState, title: z.string() })
      .nullable()
      .meta({ description: "The alert that it sends; null for a digest or a test." }),
    digest: z
      .object({ count: z.int() })
      .nullable()
      .meta({ description: "The number of alerts in a digest; null for a single alert or a test." }),
    budget_request: z
      .object({ id: uuid, title: z.string() })
      .nullable()
      .meta({ description: "The request for more of a budget that it reports, or its decision." }),
    ...outcome,
  })
  .meta({ id: "AlertDelivery" });
export type AlertDelivery = z.output<typeof alertDelivery>;

export const alert = z
  .object({
    id: uuid,
    rule: alertRule,
    state: alertState,
    severity: alertSeverity,
    level: z.string().meta({
      description:
        "Of a budget's threshold: `80` for a share in percent, `$500` for an amount in USD. Of another rule: its state.",
    }),
    fired_at: instant,
    is_quiet: z.boolean().meta({ description: "Recorded, but not sent." }),
    quiet_reason: z.enum(["was_above", "snoozed", "rule_off", "start_untold"]).nullable().meta({
      description:
        "`was_above`: the budget was above the threshold when it was set; `snoozed`; `rule_off`: the rule is off; `start_untold`: the alert about the problem was not sent, so neither is its end.",
    }),
    subject: z
      .object({
        type: alertSubjectType,
        id: z.string(),
        name: z.string().meta({ description: "Its name at that time." }),
      })
      .meta({ description: "What it is about." }),
    title: z.string().meta({ description: "What happened, in words." }),
    summary: z.string().meta({ description: "Why, in words." }),
    period: z
      .object({ from: day, until: day.meta({ description: "The first day after the period." }) })
      .nullable()
      .meta({ description: "The period in which the rule fires once; null for one that has no end." }),
    figures: alertFigures,
    links: z
      .array(z.object({ text: z.string(), url: z.string() }))
      .meta({ description: "Pages of the dashboard: the subject first, then the rows behind the figures." }),
    snooze: snoozed,
    deliveries: z
      .array(
        z.object({
          id: uuid,
          channel: z
            .object({
              id: uuid,
              name: z.string(),
              kind: z.enum(channelKinds),
              is_member: z.boolean().meta({
                description:
                  "True of a mail to a member whom the budget names: `id` is theirs, and `kind` is `email`.",
              }),
            })
            .meta({ description: "The channel, or the member, that it was sent to." }),
          ...outcome,
        }),
      )
      .meta({ description: "Its recipients, kept for 30 days." }),
  })
  .meta({ id: "Alert" });
export type FiredAlert = z.output<typeof alert>;

export const alertList = z
  .object({ alerts: z.array(alert).meta({ description: "The newest first." }), next_cursor: nextCursor })
  .meta({ id: "AlertList" });

export const deliveryList = z
  .object({
    deliveries: z.array(alertDelivery).meta({ description: "The newest first, for 30 days." }),
    next_cursor: nextCursor,
  })
  .meta({ id: "AlertDeliveryList" });

export const deliveryParams = z.strictObject({ slug: workspaceSlug, id: uuid });
