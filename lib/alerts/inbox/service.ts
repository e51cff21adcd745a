import type { PoolClient } from "pg";
import { requireMembership } from "@/lib/access/workspaces/membership";
import { type Alert, readContext, severityOf } from "@/lib/alerts/alert";
import { adviceOf, linksOf } from "@/lib/alerts/links";
import { answerFigures, readCourses, readPage } from "@/lib/alerts/log/service";
import { snoozeAlerts } from "@/lib/alerts/rules/service";
import { wordsOf } from "@/lib/alerts/words";
import type { WorkspaceRole } from "@/lib/contract/access/me";
import type {
  ChangeEntryRequest,
  EntryStatus,
  Inbox,
  InboxEntry,
  InboxQuery,
} from "@/lib/contract/alerts/alert-inbox";
import type { FiredAlert } from "@/lib/contract/alerts/alerts";
import { toInstant } from "@/lib/contract/values/instant";
import { asServiceWithin, asUser, asUserReading, callAsService, type UserClaims } from "@/lib/db/transaction";
import { notFound, ServiceError, validationFailed } from "@/lib/errors";
import { changeEntry, countEntries, type EntryRow, selectEntries, selectEntry } from "./inbox-queries";

type Workspace = { id: string; slug: string };

const isAmong = (role: WorkspaceRole, ...roles: WorkspaceRole[]) => roles.includes(role);

/**
 * Lists the entries of the inbox, for members, the one with the latest alert first.
 * @throws ServiceError not_found, validation_failed for an invalid cursor
 */
export function listEntries(claims: UserClaims, slug: string, query: InboxQuery): Promise<Inbox> {
  return asUserReading(claims, async (client) => {
    const { id, role } = await requireMembership(client, claims, slug);
    const { status, assignee } = query;
    const filter = { status, assignee: assignee === "me" ? claims.sub : assignee };
    const { rows, next_cursor } = await readPage(query, (page) => selectEntries(client, id, filter, page));
    return {
      entries: await answerEntries(client, { id, slug }, rows),
      next_cursor,
      counts: await countEntries(client, id, claims.sub),
      can_change: isAmong(role, "owner", "admin", "member"),
      can_snooze: isAmong(role, "owner", "admin"),
    };
  });
}

/** Reads one entry, for members. @throws ServiceError not_found */
export function readEntry(claims: UserClaims, slug: string, id: string): Promise<InboxEntry> {
  return asUserReading(claims, async (client) => {
    const workspace = await requireMembership(client, claims, slug);
    return loadEntry(client, { id: workspace.id, slug }, id);
  });
}

/**
 * Assigns an entry, resolves it or opens it again. Not for viewers.
 * @throws ServiceError not_found, permission_denied, validation_failed if the assignee is no member, conflict if the entry was
 *   resolved automatically and cannot be opened
 */
export function editEntry(
  claims: UserClaims,
  slug: string,
  id: string,
  { assignee_id: assigneeId, resolved }: ChangeEntryRequest,
): Promise<InboxEntry> {
  return asUser(claims, async (client) => {
    const workspace = await requireMembership(client, claims, slug, "member");
    const changes = {
      ...(assigneeId !== undefined && { assignee_id: assigneeId }),
      ...(resolved !== undefined && { is_resolved: resolved }),
    };
    const refusal = await asServiceWithin(client, () => changeEntry(client, workspace.id, id, changes));
    if (refusal === "no_entry") throw notFound();
    if (refusal === "no_member") {
      throw validationFailed([
        { path: "assignee_id", message: "must be the id of a member of the workspace" },
      ]);
    }
    if (refusal === "over") {
      throw new ServiceError(
        "conflict",
        "It no longer holds, so it cannot be opened again. It opens by itself when it fires again.",
      );
    }
    return loadEntry(client, { id: workspace.id, slug }, id);
  });
}

/**
 * Snoozes the alerts about an entry's subject until a given time, for admins; see `snoozeAlerts`.
 * @throws ServiceError not_found, permission_denied, validation_failed
 */
export async function snoozeEntry(
  claims: UserClaims,
  slug: string,
  id: string,
  until: string,
): Promise<InboxEntry> {
  const { rule, subject } = await readEntry(claims, slug, id);
  await snoozeAlerts(claims, slug, { rule, subject_id: subject.id, until });
  return readEntry(claims, slug, id);
}

/**
 * Resolves entries whose condition no longer holds, in all workspaces, and reopens entries that it resolved if theirs holds again.
 * @returns how many it changed. @throws ServiceError unavailable
 */
export function settleEntries(): Promise<number> {
  return callAsService("private.settle_alert_entries");
}

async function loadEntry(client: PoolClient, workspace: Workspace, id: string): Promise<InboxEntry> {
  const [entry] = await answerEntries(client, workspace, await selectEntry(client, workspace.id, id));
  if (!entry) throw notFound();
  return entry;
}

async function answerEntries(
  client: PoolClient,
  workspace: Workspace,
  rows: EntryRow[],
): Promise<InboxEntry[]> {
  const ids = rows.map((row) => row.entry_id);
  const courses = await readCourses(client, workspace, ids);
  return rows.map((row) => toEntry(row, workspace.slug, courses.get(row.entry_id) ?? []));
}

function toEntry(row: EntryRow, workspace: string, course: FiredAlert[]): InboxEntry {
  const {
    entry_id,
    opened_at,
    fired_at,
    assignee_id,
    assignee_name,
    snooze_id,
    snoozed_until,
    is_whole_rule,
  } = row;
  const firedAt = toInstant(fired_at.getTime());
  const alert: Alert = { ...row, fired_at: firedAt };
  const { name, period } = readContext(alert);
  const { title, text } = wordsOf(alert);
  return {
    id: entry_id,
    status: statusOf(row),
    rule: row.rule,
    severity: severityOf(alert),
    subject: { type: row.subject_type, id: row.subject_id, name },
    period,
    title,
    summary: text,
    advice: adviceOf(alert),
    figures: answerFigures(alert),
    links: linksOf(alert, workspace, ""),
    opened_at: toInstant(opened_at.getTime()),
    last_fired_at: firedAt,
    assignee: assignee_id === null ? null : { user_id: assignee_id, name: assignee_name ?? "" },
    snooze:
      snooze_id && snoozed_until
        ? { id: snooze_id, until: toInstant(snoozed_until.getTime()), whole_rule: is_whole_rule ?? false }
        : null,
    resolved: resolutionOf(row),
    course,
  };
}

function statusOf({ resolved_at, snooze_id }: EntryRow): EntryStatus {
  if (resolved_at !== null) return "resolved";
  return snooze_id === null ? "open" : "snoozed";
}

function resolutionOf({
  resolved_at: at,
  resolved_because: because,
  ...row
}: EntryRow): InboxEntry["resolved"] {
  if (at === null || because === null) return null;
  const { resolver_id: id, resolver_name: name } = row;
  const by = id === null ? null : { user_id: id, name: name ?? "" };
  return { at: toInstant(at.getTime()), because, by };
}
