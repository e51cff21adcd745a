import type { Claimed } from "@/lib/alerts/delivery/claimed";
import { requestOf } from "@/lib/alerts/kinds/requests";
import type { ChannelKind } from "@/lib/contract/alerts/alert-channels";

/** The address of the service that sends. */
export const base = "https://outlay.example.com";
/** When alerts are sent, in milliseconds since 1970. */
export const now = Date.parse("2026-11-21T09:30:05Z");
export const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/** The figures of a budget that has passed 80%. */
export const details = {
  budget: "Checkout",
  scope_type: "project",
  scope_value: "0193a0f7-0000-7000-8000-000000000001",
  percent: "80",
  amount_usd: "1000",
  spent_usd: "800.012500000000000001",
  period_from: "2026-11-01",
  period_until: "2026-12-01",
};

export type Alert = NonNullable<Claimed["alert"]>;

export const alert: Alert = {
  id: "0193a0f7-7b2e-7a55-8c0d-1d9e4f6a2b38",
  rule: "budget_threshold",
  state: "warning",
  level: "80",
  period: "2026-11-01",
  subject_type: "budget",
  subject_id: "b1",
  details,
  fired_at: "2026-11-21T09:30:00.123456+00:00",
  project_slug: "checkout",
};

/** A delivery of that alert, or of what `more` names, to a channel. */
export function delivery(kind: ChannelKind, address: string | null, more: Partial<Claimed> = {}): Claimed {
  return {
    kind: "alert",
    workspace_id: "w1",
    id: "d1",
    lease: "l1",
    attempts: 1,
    workspace: { slug: "acme", name: "Acme" },
    channel: {
      id: "c1",
      name: "Ours",
      kind,
      is_failing: false,
      address,
      signing_secrets: [secret],
      recipients: [],
      has_buttons: false,
    },
    alert,
    digest: null,
    details: null,
    ...more,
  };
}

/** The alert of a budget with another name. */
export const named = (budget: string) => ({ alert: { ...alert, details: { ...details, budget } } });
/** The alert of a budget that has passed another threshold. */
export const at = (percent: string) => ({
  alert: {
    ...alert,
    state: Number(percent) >= 100 ? ("alert" as const) : ("warning" as const),
    level: percent,
    details: { ...details, percent },
  },
});
/** What a channel is sent, with the body parsed. */
export const send = (
  kind: ChannelKind,
  more: Partial<Claimed> = {},
  address = "https://receiver.example/x",
) => {
  const request = requestOf(delivery(kind, address, more), base, now);
  return { ...request, body: JSON.parse(request.body) };
};

export const budgetLink = "https://outlay.example.com/acme/budgets#budget-b1";
export const rowsLink =
  "https://outlay.example.com/acme/activity?period=range&from=2026-11-01&to=2026-11-30&environment=live&project=checkout";
/** What the alert says. */
export const sentence = "$800.01 of $1,000.00 is spent in the period from Nov 1, 2026 to Nov 30, 2026.";
