import { exactText } from "@/components/amount";
import { formatUsd } from "@/components/money";
import { ExactNumber } from "@/lib/contract/exact-number";
import type { AuditEntry } from "./entry";

type Row = Record<string, unknown>;

/** Who made a change, for people: their name, else their address then. */
export function actorName({ actor }: AuditEntry): string {
  if (actor === null) return "The service";
  return actor.display_name ?? actor.email ?? "Somebody who is gone";
}

/** What somebody did, in words that follow their name: "removed grace@example.com". */
export function describeEntry(entry: AuditEntry): string {
  const { action, subject, before, after } = entry;
  const row = after ?? before ?? {};
  const special = verbs[subject.kind]?.(entry, row, before ?? {});
  if (special) return special;
  const verb = /\.(created|changed|deleted)$/.exec(action)?.[1] ?? "changed";
  return `${verb} ${subject.kind.replaceAll("_", " ")} ${nameOf(row)}`.trim();
}

const textOf = (row: Row, field: string) => (typeof row[field] === "string" ? row[field] : "");
const nameOf = (row: Row) => textOf(row, "name");
const differs = (field: string, before: Row, after: Row) =>
  JSON.stringify(before[field]) !== JSON.stringify(after[field]);
const amountOf = (value: unknown) =>
  value instanceof ExactNumber || typeof value === "number" ? exactText(value) : "0";

/** What each kind of change is called; `is` tells the three ways of changing a row apart. */
const verbs: Record<string, (entry: AuditEntry, row: Row, before: Row) => string | undefined> = {
  workspace: ({ action }, row, before) => {
    if (action.endsWith(".changed") && differs("require_mfa", before, row))
      return `${row.require_mfa ? "required" : "stopped requiring"} two-factor authentication`;
    return `${is(action, "made", "changed", "deleted")} the workspace ${nameOf(row)}`;
  },
  authenticator: ({ action }) => `${is(action, "added", "", "removed")} an authenticator app`,
  recovery_code: ({ action }) =>
    action.endsWith(".used")
      ? "signed in with a recovery code"
      : `${is(action, "made", "", "removed")} recovery codes`,
  member: ({ action, actor, subject }, row) => {
    const who = textOf(row, "email");
    const isOwn = actor !== null && actor.user_id === subject.id;
    if (action.endsWith(".created")) return isOwn ? `joined as ${row.role}` : `added ${who} as ${row.role}`;
    if (action.endsWith(".deleted")) return isOwn ? "left" : `removed ${who}`;
    return `made ${who} ${row.role}`;
  },
  invitation: ({ action }, row) => {
    const whom = textOf(row, "email") || "whoever has the link";
    if (action.endsWith(".changed")) return "accepted an invitation";
    return is(action, `invited ${whom} as ${row.role}`, "", `revoked the invitation for ${whom}`);
  },
  project: (_, row, before) => {
    if (!differs("archived_at", before, row)) return `renamed the project ${nameOf(before)}`;
    return `${row.archived_at === null ? "took back into use" : "archived"} the project ${nameOf(row)}`;
  },
  api_key: ({ action }, row, before) => {
    const key = `the key ${nameOf(row)}`;
    if (!action.endsWith(".changed")) return `${is(action, "made", "", "deleted")} ${key}`;
    if (differs("revoked_at", before, row)) return `revoked ${key}`;
    if (differs("last_four", before, row)) return `replaced the secret of ${key}`;
    return `changed ${key}`;
  },
  budget: ({ action }, row) => `${is(action, "set", "changed", "deleted")} the budget ${nameOf(row)}`,
  connection: ({ action }, row) => {
    const assistant = textOf(row, "client_name") || nameOf(row);
    return is(
      action,
      `connected ${assistant}`,
      `changed what ${assistant} may do`,
      `disconnected ${assistant}`,
    );
  },
  price: ({ action }, row) => {
    const of = [row.provider, row.model, row.unit_type].filter((part) => part !== null).join(" ");
    return `${is(action, "set", "changed", "deleted")} the price of ${of}`;
  },
  repricing: (_, row) => {
    const changed = amountOf(row.changed);
    const usd = amountOf(row.change_usd);
    const by =
      Number(usd) === 0 ? "" : `, ${usd.startsWith("-") ? "−" : "+"}${formatUsd(usd.replace("-", ""))}`;
    return `had ${changed} ${changed === "1" ? "message" : "messages"} of ${row.provider} corrected${by}`;
  },
  subscription: (_, row) => `stopped the subscription ${textOf((row.message ?? {}) as Row, "vendor")}`,
};

function is(action: string, created: string, changed: string, deleted: string): string {
  if (action.endsWith(".created")) return created;
  return action.endsWith(".deleted") ? deleted : changed;
}
