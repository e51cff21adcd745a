import { z } from "zod";
import { workspaceSlug } from "@/lib/contract/access/workspace";
import { weekday } from "@/lib/contract/spend/budgets";
import { instant, text, uuid } from "@/lib/contract/values/fields";
import { timeZone } from "@/lib/contract/values/time-zone";
import { alertRule } from "./alert-rules";

export const channelKinds = ["webhook", "slack", "discord", "teams", "pagerduty", "email"] as const;
export type ChannelKind = (typeof channelKinds)[number];

/** The most channels of one workspace, and the most addresses of one channel. */
export const maxChannels = 20;
const maxAddresses = 10;

const name = text(120).refine((value) => value.trim() !== "", "must not be blank");
const url = text(2048).meta({
  description: "The https address that alerts are posted to. It is a secret: answers show only its host.",
});
const routingKey = z
  .string()
  .regex(/^[A-Za-z0-9]{32}$/, "must be the 32 letters and digits of an Events API v2 integration")
  .meta({ description: "The integration key of a PagerDuty service (Events API v2). It is a secret." });
const region = z.enum(["us", "eu"]).meta({ description: "The region of the PagerDuty account." });
const slackSecret = z
  .string()
  .regex(/^[A-Za-z0-9]{16,64}$/, "must be the signing secret of a Slack app: 16 to 64 letters and digits")
  .meta({
    description:
      "The signing secret of the Slack app that the webhook belongs to. With it, messages about budget requests have a button that approves. It is sealed, and never shown again.",
  });
const addresses = z
  .array(z.email("must be an e-mail address").max(254))
  .min(1, "must have at least one address")
  .max(maxAddresses, `must have at most ${maxAddresses} addresses`)
  .meta({ description: "Addresses of members of the workspace." });
const rules = z
  .array(alertRule)
  .min(1, "must name a rule, or be null for all of them")
  .max(20)
  .nullable()
  .meta({ description: "Only alerts of these rules are sent; null: of all, later ones too." });
const digestTime = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, "must be a time from 00:00 to 23:59")
  .default("09:00")
  .meta({ description: "The local time, `HH:MM`." });
const leastPercent = z
  .int("must be a whole number of percent")
  .min(1, "must be 1 or more")
  .max(1000, "must be 1000 or less")
  .nullable()
  .meta({
    description:
      "Thresholds of budgets with lower percentages are not sent; null: all are. Other rules ignore it.",
  });

const digest = z
  .discriminatedUnion("every", [
    z
      .strictObject({ every: z.literal("day"), at: digestTime, time_zone: timeZone.default("UTC") })
      .meta({ id: "DailyDigest" }),
    z
      .strictObject({
        every: z.literal("week"),
        weekday: weekday.default("monday"),
        at: digestTime,
        time_zone: timeZone.default("UTC"),
      })
      .meta({ id: "WeeklyDigest" }),
  ])
  .nullable()
  .meta({
    description:
      "Null: each alert is sent immediately. Otherwise alerts are collected and sent as one digest, each day or week at a local time. Without alerts, nothing is sent.",
  });

const wanted = {
  name,
  rules: rules.default(null),
  least_percent: leastPercent.default(null),
  digest: digest.default(null),
};

export const createChannelRequest = z
  .discriminatedUnion(
    "kind",
    [
      z.strictObject({ kind: z.literal("webhook"), url, ...wanted }),
      z.strictObject({
        kind: z.literal("slack"),
        url,
        signing_secret: slackSecret.optional(),
        ...wanted,
      }),
      z.strictObject({ kind: z.literal("discord"), url, ...wanted }),
      z.strictObject({ kind: z.literal("teams"), url, ...wanted }),
      z.strictObject({
        kind: z.literal("pagerduty"),
        routing_key: routingKey,
        region: region.default("us"),
        ...wanted,
      }),
      z.strictObject({ kind: z.literal("email"), addresses, ...wanted }),
    ],
    { error: `must be one of ${channelKinds.join(", ")}` },
  )
  .meta({ id: "CreateAlertChannelRequest" });
export type CreateChannelRequest = z.output<typeof createChannelRequest>;

/** Fields that are left out stay unchanged. The kind of a channel cannot be changed. */
export const editChannelRequest = z
  .strictObject({
    name: name.optional(),
    url: url.optional(),
    routing_key: routingKey.optional(),
    region: region.optional().meta({ description: "With `routing_key` only." }),
    addresses: addresses.optional(),
    signing_secret: slackSecret.nullable().optional().meta({
      description:
        "Of a channel of the kind `slack`: the signing secret of its app; null removes it, and the buttons. Either unlinks the Slack users who were linked by the channel.",
    }),
    rules: rules.optional(),
    least_percent: leastPercent.optional(),
    digest: digest.optional(),
    enabled: z.boolean().optional().meta({
      description:
        "false: nothing is sent, and what waits is dropped. true: what waits since the service turned it off is sent.",
    }),
  })
  .meta({ id: "EditAlertChannelRequest" });
export type EditChannelRequest = z.output<typeof editChannelRequest>;

const channelFields = {
  id: uuid,
  name: z.string(),
  kind: z.enum(channelKinds),
  target: z.string().meta({
    description: "The public part of its target: the host, PagerDuty's region, or the mail addresses.",
  }),
  rules: z.array(alertRule).nullable(),
  least_percent: z.int().nullable(),
  digest: z
    .object({
      every: z.enum(["day", "week"]),
      weekday: weekday.nullable().meta({ description: "Null for a daily one." }),
      at: z.string().meta({ description: "The local time, `HH:MM`." }),
      time_zone: z.string(),
      next_at: instant.meta({ description: "When the next one is made." }),
    })
    .meta({ id: "ChannelDigest" })
    .nullable()
    .meta({ description: "Null: each alert is sent at once." }),
  enabled: z.boolean(),
  disabled_reason: z.enum(["failing", "gone", "by_admin"]).nullable().meta({
    description:
      "`failing`: the service turned it off after a day of failures; `gone`: the service turned it off because its receiver answered 410; `by_admin`: an admin turned it off.",
  }),
  disabled_at: instant.nullable(),
  failing_since: instant.nullable().meta({ description: "The first failure since the last success." }),
  secret_set_at: instant.meta({ description: "When its address or signing secret was last set." }),
  has_buttons: z.boolean().meta({
    description:
      "Whether messages about budget requests have a button that approves: a Slack channel with the signing secret of its app, which was set by somebody who is an owner or admin still.",
  }),
  interactivity_url: z.string().nullable().meta({
    description:
      "Of a channel of the kind `slack`: the address to enter in the Slack app under Interactivity & Shortcuts, Request URL. Otherwise null.",
  }),
  created_at: instant,
};

export const alertChannel = z.object(channelFields).meta({ id: "AlertChannel" });
export type AlertChannel = z.output<typeof alertChannel>;

const signingSecret = z.string().meta({
  description: "Signs the webhooks (Standard Webhooks); `whsec_` and base64. Only this answer has it.",
});

export const createdChannel = z
  .object({
    ...channelFields,
    signing_secret: signingSecret.nullable().meta({
      description:
        "For a `webhook`: the secret that signs its deliveries (Standard Webhooks). Shown only in this answer. Otherwise null.",
    }),
  })
  .meta({ id: "CreatedAlertChannel" });
export type CreatedChannel = z.output<typeof createdChannel>;

export const rotatedSecret = z
  .object({
    signing_secret: signingSecret,
    old_secret_until: instant.meta({
      description: "Until then, deliveries are signed with the former secret, too.",
    }),
  })
  .meta({ id: "RotatedSigningSecret" });

export const channelList = z
  .object({
    channels: z.array(alertChannel).meta({ description: "By name." }),
    can_edit: z.boolean().meta({ description: "Whether you may add and change them." }),
    can_mail: z.boolean().meta({ description: "Whether this service can send mail." }),
  })
  .meta({ id: "AlertChannelList" });

export const channelParams = z.strictObject({ slug: workspaceSlug, id: uuid });
