import type { ExampleSet } from "./example-set";

const channel = {
  id: "0193a0f7-52c1-7d10-9b3a-5f2a7c9e1d04",
  name: "Finance hook",
  kind: "webhook",
  target: "hooks.example.com",
  rules: null,
  least_percent: 80,
  digest: null,
  enabled: true,
  disabled_reason: null,
  disabled_at: null,
  failing_since: null,
  secret_set_at: "2026-11-01T08:00:00.000+00:00",
  has_buttons: false,
  interactivity_url: null,
  created_at: "2026-11-01T08:00:00.000+00:00",
};

const outcome = {
  state: "delivered",
  attempts: 1,
  last_status: 204,
  last_error: null,
  next_attempt_at: null,
  delivered_at: "2026-11-21T09:30:01.000+00:00",
  created_at: "2026-11-21T09:30:00.000+00:00",
};

const alertId = "0193a0f7-7b2e-7a55-8c0d-1d9e4f6a2b38";

const delivery = {
  id: "0193a0f7-9c44-7f21-a1b2-3c4d5e6f7a8b",
  channel_id: channel.id,
  is_test: false,
  budget_request: null,
  alert: {
    id: alertId,
    rule: "budget_threshold",
    state: "warning",
    title: "80% of the budget Checkout is spent",
  },
  digest: null,
  ...outcome,
};

const alert = {
  id: alertId,
  rule: "budget_threshold",
  state: "warning",
  severity: "warning",
  level: "80",
  fired_at: "2026-11-21T09:30:00.000+00:00",
  is_quiet: false,
  quiet_reason: null,
  subject: { type: "budget", id: "0193a0f7-1e44-7c02-a6d3-90b1f8e2d417", name: "Checkout" },
  title: "80% of the budget Checkout is spent",
  summary: "$800.01 of $1,000.00 is spent in the period from Nov 1, 2026 to Nov 30, 2026.",
  period: { from: "2026-11-01", until: "2026-12-01" },
  figures: {
    rule: "budget_threshold",
    scope_type: "project",
    scope_value: "checkout",
    amount_usd: 1000,
    spent_usd: 800.0125,
    percent: 80,
  },
  links: [
    { text: "Open the budget", url: "/acme/budgets#budget-0193a0f7-1e44-7c02-a6d3-90b1f8e2d417" },
    {
      text: "Show what was spent",
      url: "/acme/activity?period=range&from=2026-11-01&to=2026-11-30&environment=live&project=checkout",
    },
  ],
  snooze: null,
  deliveries: [
    {
      id: delivery.id,
      channel: { id: channel.id, name: channel.name, kind: channel.kind, is_member: false },
      ...outcome,
    },
  ],
};

const entry = {
  id: "0193a0f7-d4e1-7b28-93c5-6f7a8b9c0d1e",
  status: "open",
  rule: alert.rule,
  severity: alert.severity,
  subject: alert.subject,
  period: alert.period,
  title: alert.title,
  summary: alert.summary,
  advice: "See what the money went to. Then lower that spend, or raise the budget where it was planned.",
  figures: alert.figures,
  links: alert.links,
  opened_at: alert.fired_at,
  last_fired_at: alert.fired_at,
  assignee: { user_id: "0193a0f6-10aa-7d3e-8b21-4c5d6e7f8091", name: "Grace Hopper" },
  snooze: null,
  resolved: null,
  course: [alert],
};

const keyId = "0193a0f7-3c5d-7e11-8f20-a1b2c3d4e5f6";

const rule = {
  rule: "key_limit",
  enabled: true,
  parameter: { value: 80, unit: "percent", default: 80, least: 1, most: 99 },
  state: "warning",
  subjects: [
    {
      type: "key",
      id: keyId,
      name: "Agent",
      state: "warning",
      since: "2026-11-21T09:30:00.000+00:00",
      title: "The key Agent is near its monthly limit",
      snooze: null,
    },
  ],
  snooze: null,
};

const secret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDAbCdEfGhIjk=";

const slackLink = {
  id: "0193a0f7-52c1-7d10-9b3a-5f2a7c9e1d05",
  slack_name: "ada in example",
  channel_name: "Finance chat",
  created_at: "2026-11-21T09:30:00.000+00:00",
};

export const alertExamples: ExampleSet = {
  requests: {
    LinkSlackUserRequest: { token: { value: { token: "q7Yk0n3VbU9mB2sXw1dF8hJ4tL6pR5zA0cE3gN7iK2o" } } },
    CreateAlertChannelRequest: {
      webhook: {
        summary: "A webhook of your own",
        value: {
          kind: "webhook",
          name: "Finance hook",
          url: "https://hooks.example.com/outlay",
          least_percent: 80,
        },
      },
      slack: {
        summary: "A channel of Slack",
        value: { kind: "slack", name: "#spend", url: "https://hooks.slack.com/services/T000/B000/XXXX" },
      },
      pagerduty: {
        summary: "PagerDuty, at 100% only",
        value: {
          kind: "pagerduty",
          name: "On call",
          routing_key: "0123456789abcdef0123456789abcdef",
          region: "eu",
          least_percent: 100,
        },
      },
      email: {
        summary: "Mail to members",
        value: { kind: "email", name: "Finance", addresses: ["grace@example.com"] },
      },
      digest: {
        summary: "A mail each Monday with what fired",
        value: {
          kind: "email",
          name: "Weekly",
          addresses: ["grace@example.com"],
          digest: { every: "week", weekday: "monday", at: "08:30", time_zone: "Europe/Berlin" },
        },
      },
    },
    EditAlertRuleRequest: {
      off: { summary: "Turn it off", value: { enabled: false } },
      later: { summary: "Alert from 90% on", value: { parameter: 90 } },
    },
    SnoozeAlertsRequest: {
      rule: { summary: "A whole rule", value: { rule: "unusual_day", until: "2026-12-01T00:00:00Z" } },
      subject: {
        summary: "One key",
        value: { rule: "key_limit", subject_id: keyId, until: "2026-12-01T00:00:00Z" },
      },
    },
    EditAlertChannelRequest: {
      enable: { summary: "Turn it on again", value: { enabled: true } },
      digest: { summary: "A digest each day", value: { digest: { every: "day", at: "17:00" } } },
      level: { summary: "Only from 100% on", value: { least_percent: 100 } },
    },
    WeeklyReportRequest: {
      on: { summary: "Receive it", value: { enabled: true, time_zone: "Europe/Berlin" } },
      off: { summary: "End it", value: { enabled: false } },
    },
    SendWeeklyReportRequest: { now: { summary: "The last week", value: { time_zone: "Europe/Berlin" } } },
    ChangeAlertInboxEntryRequest: {
      assign: { summary: "Assign it", value: { assignee_id: entry.assignee.user_id } },
      resolve: { summary: "Resolve it", value: { resolved: true } },
    },
    SeenAlertsRequest: { newest: { summary: "All up to this one", value: { alert_id: alertId } } },
  },
  responses: {
    SlackLink: slackLink,
    SlackLinkList: { links: [slackLink] },
    AlertChannel: channel,
    CreatedAlertChannel: { ...channel, signing_secret: secret },
    RotatedSigningSecret: { signing_secret: secret, old_secret_until: "2026-11-22T09:30:00.000+00:00" },
    AlertChannelList: { channels: [channel], can_edit: true, can_mail: true },
    Alert: alert,
    AlertRuleSetting: rule,
    AlertRuleList: { rules: [rule], can_edit: true },
    AlertInboxEntry: entry,
    AlertInbox: {
      entries: [entry],
      next_cursor: null,
      counts: { open: 1, snoozed: 0, mine: 1 },
      can_change: true,
      can_snooze: true,
    },
    AlertSnooze: {
      id: "0193a0f7-aa10-7c33-9d4e-0b1c2d3e4f50",
      rule: "key_limit",
      subject_id: keyId,
      until: "2026-12-01T00:00:00.000+00:00",
    },
    AlertList: { alerts: [alert], next_cursor: null },
    WeeklyReport: {
      enabled: true,
      time_zone: "Europe/Berlin",
      next_at: "2026-11-30T07:00:00.000+00:00",
      can_mail: true,
    },
    SentWeeklyReport: { sent_to: "grace@example.com", week: "2026-11-16", error: null },
    EndedWeeklyReport: { ended: true },
    AlertNews: {
      unread: 1,
      newest: [
        {
          id: alertId,
          title: "80% of the budget Checkout is spent",
          text: "$800.01 of $1,000.00 is spent in the period from Nov 1, 2026 to Nov 30, 2026.",
          state: "warning",
          severity: "warning",
          fired_at: alert.fired_at,
          is_unread: true,
          path: `/acme/budgets#budget-${alert.subject.id}`,
        },
      ],
    },
    AlertDelivery: delivery,
    AlertDeliveryList: { deliveries: [delivery], next_cursor: null },
  },
};
