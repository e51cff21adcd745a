import { exactText } from "@/components/figures/amount";
import { plural } from "@/components/figures/format-count";
import { formatMonthAndYear } from "@/components/figures/format-date";
import { formatSignedMoney } from "@/components/figures/money";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import type { AuditEntry } from "./entry";

type Row = Record<string, unknown>;

/** The name of the user or the key that made a change, or the e-mail address that the user had; "The service" when neither did. */
export function actorName({ actor, key }: AuditEntry): string {
  if (actor === null) return key ? `The key ${key.name ?? ""}`.trimEnd() : "The service";
  return actor.display_name ?? actor.email ?? "A deleted user";
}

/** The name of a filter for what no user did. */
export const noUser = "Keys and the service";

/** What an entry's actor did, as text that follows the actor's name: "removed grace@example.com". */
export function formatEntry(entry: AuditEntry): string {
  const { action, subject, before, after } = entry;
  const row = after ?? before ?? {};
  const specific = formatters[subject.kind]?.(entry, row, before ?? {});
  if (specific) return specific;
  const verb = /\.(created|changed|deleted)$/.exec(action)?.[1] ?? "changed";
  return `${verb} ${subject.kind.replaceAll("_", " ")} ${nameOf(row)}`.trim();
}

const textOf = (row: Row, field: string) => (typeof row[field] === "string" ? row[field] : "");
const nameOf = (row: Row) => textOf(row, "name");
const monthOf = (row: Row) => formatMonthAndYear(textOf(row, "month"));
const differs = (field: string, before: Row, after: Row) =>
  JSON.stringify(before[field]) !== JSON.stringify(after[field]);
const amountOf = (value: unknown) =>
  value instanceof ExactNumber || typeof value === "number" ? exactText(value) : "0";

/** The text for each kind of thing that changed; undefined for the general text. */
const formatters: Record<string, (entry: AuditEntry, row: Row, before: Row) => string | undefined> = {
  workspace: ({ action }, row, before) => {
    if (action.endsWith(".changed") && differs("require_mfa", before, row))
      return `${row.require_mfa ? "required" : "stopped requiring"} two-factor authentication`;
    if (action === "workspace.time_zone_requested")
      return `asked for the time zone ${textOf(row, "time_zone")}`;
    return `${verbOf(action, "created", "changed", "deleted")} the workspace ${nameOf(row)}`;
  },
  authenticator: ({ action }) => `${verbOf(action, "added", "", "removed")} an authenticator app`,
  recovery_code: ({ action }) =>
    action.endsWith(".used")
      ? "signed in with a recovery code"
      : `${verbOf(action, "created", "", "removed")} recovery codes`,
  member: ({ action, actor, subject }, row) => {
    const email = textOf(row, "email");
    const isOwn = actor !== null && actor.user_id === subject.id;
    if (action.endsWith(".created")) return isOwn ? `joined as ${row.role}` : `added ${email} as ${row.role}`;
    if (action.endsWith(".deleted")) return isOwn ? "left" : `removed ${email}`;
    return `changed the role of ${email} to ${row.role}`;
  },
  invitation: ({ action }, row) => {
    const invitee = textOf(row, "email") || "anybody with the link";
    if (action.endsWith(".changed")) return "accepted an invitation";
    return verbOf(action, `invited ${invitee} as ${row.role}`, "", `revoked the invitation for ${invitee}`);
  },
  project: (_, row, before) => {
    if (!differs("archived_at", before, row)) return `renamed the project ${nameOf(before)}`;
    return `${row.archived_at === null ? "restored" : "archived"} the project ${nameOf(row)}`;
  },
  api_key: ({ action }, row, before) => {
    const key = `the key ${nameOf(row)}`;
    if (!action.endsWith(".changed")) return `${verbOf(action, "created", "", "deleted")} ${key}`;
    if (differs("revoked_at", before, row)) return `revoked ${key}`;
    if (differs("last_four", before, row)) return `rotated the secret of ${key}`;
    if (differs("raised_limit", before, row))
      return row.raised_limit === null
        ? `ended the raise of the limit of ${key}`
        : `raised the monthly limit of ${key}`;
    return `changed ${key}`;
  },
  budget: ({ action }, row) => `${verbOf(action, "set", "changed", "deleted")} the budget ${nameOf(row)}`,
  budget_request: ({ action }, row) => {
    const limit = textOf(row, "limited_key_id") === "" ? "a budget" : "a key's monthly limit";
    if (action.endsWith(".created")) return `asked for more of ${limit}`;
    const verb = { approved: "approved", denied: "denied", withdrawn: "withdrew" }[textOf(row, "state")];
    const place = textOf(row, "slack_user") === "" ? "" : " in Slack";
    return `${verb ?? "changed"} a request for more of ${limit}${place}`;
  },
  slack_link: ({ action }, row) =>
    `${verbOf(action, "linked", "", "unlinked")} the Slack user ${textOf(row, "slack_name")}`,
  saved_view: ({ action }, row) =>
    `${verbOf(action, "shared", "changed", "deleted")} the view ${nameOf(row)}`,
  alert_channel: ({ action }, row, before) => {
    const channel = `the alert channel ${nameOf(row)}`;
    if (!action.endsWith(".changed")) return `${verbOf(action, "added", "", "deleted")} ${channel}`;
    if (differs("disabled_at", before, row)) {
      return row.disabled_at === null ? `turned on ${channel}` : `turned off ${channel}`;
    }
    if (differs("target", before, row)) return `changed where ${channel} sends`;
    if (differs("secret_set_at", before, row)) return `set a new secret of ${channel}`;
    return `changed ${channel}`;
  },
  alert_rule: (_, row, before) => {
    const rule = `the alert rule ${textOf(row, "rule")}`;
    // If there was no row before, the rule was on, the default.
    if ((before.is_on ?? true) !== row.is_on) return row.is_on ? `turned on ${rule}` : `turned off ${rule}`;
    return `changed ${rule}`;
  },
  alert_snooze: ({ action }, row) => {
    const rule = `the alert rule ${textOf(row, "rule")}`;
    const of = row.subject_id === null ? rule : `a subject of ${rule}`;
    return action.endsWith(".deleted") ? `ended the snooze of ${of}` : `snoozed ${of}`;
  },
  alert_entry: (_, row, before) => {
    const entry = `the alert about ${nameOf(row)}`;
    if (differs("resolved_at", before, row)) {
      return row.resolved_at === null ? `opened ${entry} again` : `resolved ${entry}`;
    }
    return row.assignee === null
      ? `took ${entry} from ${textOf(before, "assignee")}`
      : `assigned ${entry} to ${textOf(row, "assignee")}`;
  },
  connection: ({ action }, row) => {
    const assistant = textOf(row, "client_name") || nameOf(row);
    return verbOf(
      action,
      `connected ${assistant}`,
      `changed what ${assistant} may do`,
      `disconnected ${assistant}`,
    );
  },
  price: ({ action }, row) => {
    const of = [row.provider, row.model, row.unit_type].filter((part) => part !== null).join(" ");
    return `${verbOf(action, "set", "changed", "deleted")} the price of ${of}`;
  },
  repricing: (_, row) => {
    const changed = amountOf(row.changed);
    const usd = amountOf(row.change_usd);
    const difference = Number(usd) === 0 ? "" : `, ${formatSignedMoney(usd)}`;
    const count = Number(changed) === 0 ? "no message" : `${changed} ${plural(Number(changed), "message")}`;
    return `corrected ${count} of ${row.provider}${difference}`;
  },
  message: ({ action }) => `${action.endsWith(".corrected") ? "corrected" : "voided"} a cost`,
  bulk_action: ({ action }, row) => {
    const count = amountOf(row.messages);
    const costs = `${count} ${plural(Number(count), "cost")}`;
    if (action.endsWith(".undone")) return `undid a change of ${costs}`;
    return `${action.endsWith(".voided") ? "voided" : "corrected"} ${costs}`;
  },
  closed_month: ({ action }, row) => `${verbOf(action, "closed", "reopened", "")} ${monthOf(row)}`,
  bill: ({ action }, row) => `${verbOf(action, "added", "", "deleted")} the bill ${textOf(row, "name")}`,
  bill_adjustment: ({ action }, row) =>
    `${verbOf(action, "booked", "undid", "")} the adjustment of ${formatSignedMoney(amountOf(row.amount_usd))} to the bills of ${monthOf(row)}`,
  provider_account: ({ action }, row) => {
    const account = ["the provider account", textOf(row, "provider"), textOf(row, "account")]
      .join(" ")
      .trimEnd();
    return verbOf(action, `added ${account}`, `accepted what was held of ${account}`, `removed ${account}`);
  },
  provider_limit: ({ action }, row) => {
    const limit = ["the limit at", textOf(row, "provider"), textOf(row, "target_name")].join(" ").trimEnd();
    if (action.endsWith(".written"))
      return `wrote ${formatSignedMoney(amountOf(row.written_usd)).replace("+", "")} as ${limit}`;
    return verbOf(
      action,
      `linked ${limit}`,
      `asked to ${row.is_removing === true ? "remove" : "write"} ${limit}${row.is_removing === true ? "" : " again"}`,
      `unlinked ${limit}`,
    );
  },
  provider_telemetry: ({ action }, row) => {
    const telemetry = ["the telemetry of", textOf(row, "provider"), textOf(row, "account")]
      .join(" ")
      .trimEnd();
    const ended = row.state === "registered" ? `registered ${telemetry}` : `could not register ${telemetry}`;
    return verbOf(action, `asked to register ${telemetry}`, ended, `ended ${telemetry}`);
  },
  person: (_, row) => `erased a person, now called ${textOf(row, "pseudonym")}`,
  subscription: (_, row) => `stopped the subscription ${textOf((row.message ?? {}) as Row, "vendor")}`,
};

/** One of three texts, by what the action did to the row. */
function verbOf(action: string, created: string, changed: string, deleted: string): string {
  if (action.endsWith(".created")) return created;
  return action.endsWith(".deleted") ? deleted : changed;
}
