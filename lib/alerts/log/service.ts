import type { PoolClient } from "pg";
import { z } from "zod";
import { requireMembership } from "@/lib/access/workspaces/membership";
import { type Alert, namedFigures, readContext, severityOf } from "@/lib/alerts/alert";
import { requestTitle } from "@/lib/alerts/kinds/budget-request";
import { linksOf } from "@/lib/alerts/links";
import { type SnoozeRow, selectSnoozes } from "@/lib/alerts/rules/rule-queries";
import { wordsOf } from "@/lib/alerts/words";
import { alertFigures } from "@/lib/contract/alerts/alert-figures";
import { maxCourse } from "@/lib/contract/alerts/alert-inbox";
import type {
  AlertDelivery,
  AlertQuery,
  alertList,
  deliveryList,
  FiredAlert,
} from "@/lib/contract/alerts/alerts";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { toInstant } from "@/lib/contract/values/instant";
import { cursorOf } from "@/lib/db/cursor";
import { asServiceWithin, asUser, asUserReading, type UserClaims } from "@/lib/db/transaction";
import { notFound, ServiceError } from "@/lib/errors";
import {
  type AlertPlace,
  type AlertRow,
  type DeliveryRow,
  hasChannel,
  resendDelivery,
  selectAlerts,
  selectChannelLog,
  selectCourses,
  selectDeliveriesOf,
  selectDelivery,
} from "./alert-log-queries";

const places = cursorOf<AlertPlace>(z.object({ number: z.string().regex(/^\d{1,18}$/) }));

/** Lists alerts with their deliveries, the newest first, for members. @throws ServiceError not_found */
export function listAlerts(
  claims: UserClaims,
  slug: string,
  query: AlertQuery,
): Promise<z.output<typeof alertList>> {
  return asUserReading(claims, async (client) => {
    const { id } = await requireMembership(client, claims, slug);
    const { rows, next_cursor } = await readPage(query, (page) => selectAlerts(client, id, page));
    return { alerts: await answerAlerts(client, { id, slug }, rows), next_cursor };
  });
}

/** Alerts in the form of the response: in words, with their figures and deliveries. */
async function answerAlerts(
  client: PoolClient,
  { id, slug }: { id: string; slug: string },
  rows: AlertRow[],
): Promise<FiredAlert[]> {
  const sent = await selectDeliveriesOf(
    client,
    id,
    rows.map((row) => row.id),
  );
  const snoozes = await selectSnoozes(client, id);
  return rows.map((row) => toAnswer(row, slug, sent, snoozes));
}

/** Reads the alerts of some entries of the inbox. @returns by the entry's id, its alerts in the form of the response, newest first */
export async function readCourses(
  client: PoolClient,
  workspace: { id: string; slug: string },
  entryIds: string[],
): Promise<Map<string, FiredAlert[]>> {
  const rows = await selectCourses(client, workspace.id, entryIds, maxCourse);
  const alerts = await answerAlerts(client, workspace, rows);
  const courses = new Map<string, FiredAlert[]>();
  for (const [index, { entry_id: id }] of rows.entries()) {
    const alert = alerts[index];
    if (alert) courses.set(id, [...(courses.get(id) ?? []), alert]);
  }
  return courses;
}

/** Lists what was sent to a channel, the newest first, for members. @throws ServiceError not_found */
export function listDeliveries(
  claims: UserClaims,
  slug: string,
  channelId: string,
  query: AlertQuery,
): Promise<z.output<typeof deliveryList>> {
  return asUserReading(claims, async (client) => {
    const { id } = await requireMembership(client, claims, slug);
    if (!(await hasChannel(client, id, channelId))) throw notFound();
    const { rows, next_cursor } = await readPage(query, (page) =>
      selectChannelLog(client, id, channelId, page),
    );
    return { deliveries: rows.map(toDelivery), next_cursor };
  });
}

/** Reads one delivery, for members. @throws ServiceError not_found */
export function readLoggedDelivery(claims: UserClaims, slug: string, id: string): Promise<AlertDelivery> {
  return asUserReading(claims, async (client) => {
    const { id: workspaceId } = await requireMembership(client, claims, slug);
    return loadDelivery(client, workspaceId, id);
  });
}

/**
 * Queues a dead delivery again, for admins.
 * @throws ServiceError not_found, permission_denied, conflict if it is not dead or its channel is off
 */
export function resendAlert(claims: UserClaims, slug: string, id: string): Promise<AlertDelivery> {
  return asUser(claims, async (client) => {
    const { id: workspaceId } = await requireMembership(client, claims, slug, "admin");
    const { is_test: isTest } = await loadDelivery(client, workspaceId, id);
    if (isTest) throw new ServiceError("conflict", "A test cannot be sent again. Send another test.");
    const refusal = await asServiceWithin(client, () => resendDelivery(client, workspaceId, id));
    if (refusal === "disabled") {
      throw new ServiceError(
        "conflict",
        "Its channel is turned off or was deleted. Turn the channel on first.",
      );
    }
    if (refusal === "not_dead") {
      throw new ServiceError("conflict", "Only a delivery that was given up can be sent again.");
    }
    return loadDelivery(client, workspaceId, id);
  });
}

/** Reads a page and the cursor of the next one. @throws ServiceError validation_failed for an invalid cursor */
export async function readPage<R extends { number: string }>(
  { limit, cursor }: AlertQuery,
  select: (page: { after: AlertPlace | null; atMost: number }) => Promise<R[]>,
): Promise<{ rows: R[]; next_cursor: string | null }> {
  const after = cursor === undefined ? null : places.read(cursor);
  // Reads one row more than the page holds, to learn whether there is another page.
  const rows = await select({ after, atMost: limit + 1 });
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { rows: shown, next_cursor: last ? places.write({ number: last.number }) : null };
}

async function loadDelivery(client: PoolClient, workspaceId: string, id: string): Promise<AlertDelivery> {
  const [row] = await selectDelivery(client, workspaceId, id);
  if (!row) throw notFound();
  return toDelivery(row);
}

function toDelivery(row: DeliveryRow): AlertDelivery {
  const { alert_id: id, alert } = row;
  return {
    id: row.id,
    channel_id: row.channel_id,
    is_test: id === null && row.digest_count === null && row.request_details === null,
    digest: row.digest_count === null ? null : { count: Number(row.digest_count) },
    budget_request: row.request_details && {
      id: row.request_details.id,
      title: requestTitle(row.request_details),
    },
    alert:
      id !== null && alert
        ? { id, rule: alert.rule, state: alert.state, title: wordsOf({ ...alert, project_slug: null }).title }
        : null,
    ...toOutcome(row),
  };
}

function toOutcome({ state, attempts, last_status, last_error, ...row }: DeliveryRow) {
  return {
    state,
    attempts,
    last_status,
    last_error,
    next_attempt_at: state === "pending" ? toInstant(row.next_attempt_at.getTime()) : null,
    delivered_at: row.delivered_at && toInstant(row.delivered_at.getTime()),
    created_at: toInstant(row.created_at.getTime()),
  };
}

function toAnswer(row: AlertRow, workspace: string, sent: DeliveryRow[], snoozes: SnoozeRow[]): FiredAlert {
  const snooze = snoozes.find((each) => each.rule === row.rule && each.subject_id === row.subject_id);
  const firedAt = toInstant(row.fired_at.getTime());
  const alert: Alert = { ...row, fired_at: firedAt };
  const { name, period } = readContext(alert);
  const { title, text } = wordsOf(alert);
  return {
    id: row.id,
    rule: row.rule,
    state: row.state,
    severity: severityOf(alert),
    level: row.level,
    fired_at: firedAt,
    is_quiet: row.is_quiet,
    quiet_reason: row.quiet_reason,
    subject: { type: row.subject_type, id: row.subject_id, name },
    title,
    summary: text,
    period,
    figures: answerFigures(alert),
    links: linksOf(alert, workspace, ""),
    snooze: snooze ? { id: snooze.id, until: toInstant(snooze.until.getTime()) } : null,
    deliveries: sent
      .filter(({ alert_id: id }) => id === row.id)
      .map((delivery) => ({
        id: delivery.id,
        channel: {
          id: delivery.channel_id,
          name: delivery.channel_name,
          kind: delivery.channel_kind,
          is_member: delivery.is_member,
        },
        ...toOutcome(delivery),
      })),
  };
}

/** The figures of an alert in the form of the response. */
export function answerFigures(alert: Alert): FiredAlert["figures"] {
  return alertFigures.parse(withExactNumbers(namedFigures(alert)));
}

/** Converts the money and percentages of stored figures to JSON numbers with all their digits. */
function withExactNumbers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withExactNumbers);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name,
      typeof part === "string" && /(_usd|^percent)$/.test(name)
        ? new ExactNumber(part)
        : withExactNumbers(part),
    ]),
  );
}
