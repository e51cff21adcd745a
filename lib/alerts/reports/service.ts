import { randomUUID } from "node:crypto";
import type { PoolClient } from "pg";
import { hourMs, throttle } from "@/lib/access/throttle";
import { requireMembership, requireProfile } from "@/lib/access/workspaces/membership";
import { attemptTimeoutMs, explainFailure } from "@/lib/alerts/delivery/attempt";
import { canSendMail, sendMail } from "@/lib/alerts/mail/send-mail";
import { readCoverage } from "@/lib/bills/coverage";
import type { SentReport, WeeklyReport, WeeklyReportRequest } from "@/lib/contract/spend/weekly-report";
import { toInstant } from "@/lib/contract/values/instant";
import { asUser, asUserReading, sqlState, type UserClaims } from "@/lib/db/transaction";
import { validationFailed } from "@/lib/errors";
import { serviceAddress } from "@/lib/service-address";
import { readRecommended } from "@/lib/spend/recommendations/service";
import { readWeek } from "@/lib/spend/weekly/service";
import { hashOf } from "./link";
import { reportMail } from "./mail";
import { endReport, selectSubscription, subscribe, unsubscribe } from "./report-queries";

/** The most reports that a user can request by mail in an hour. */
const maxSentAnHour = 10;

/** Whether the user receives the weekly report of a workspace. @throws ServiceError not_found */
export function readSubscription(claims: UserClaims, slug: string): Promise<WeeklyReport> {
  return asUserReading(claims, async (client) => {
    const { id } = await requireMembership(client, claims, slug);
    return loadSubscription(client, id);
  });
}

/**
 * Subscribes the user to the weekly report of a workspace, or ends it.
 * @throws ServiceError not_found, validation_failed
 */
export function changeSubscription(
  claims: UserClaims,
  slug: string,
  request: WeeklyReportRequest,
): Promise<WeeklyReport> {
  return asUser(claims, async (client) => {
    const { id } = await requireMembership(client, claims, slug);
    if (!request.enabled) await unsubscribe(client, id);
    else {
      requireMail();
      await subscribe(client, id, request.time_zone).catch(explainZone);
    }
    return loadSubscription(client, id);
  });
}

/**
 * Mails the user the report of the last complete week, at once.
 * @throws ServiceError not_found, validation_failed, rate_limited
 */
export async function sendReportNow(
  claims: UserClaims,
  slug: string,
  zone: string | undefined,
): Promise<SentReport> {
  const { email } = await asUserReading(claims, async (client) => {
    await requireMembership(client, claims, slug);
    return requireProfile(client, claims);
  });
  requireMail();
  await throttle("weekly reports sent by hand", [
    { subject: `account ${claims.sub}`, limit: maxSentAnHour, windowMs: hourMs },
  ]);
  const week = await readWeek(claims, slug, zone, null);
  const coverage = await readCoverage(claims, slug);
  const recommended = await readRecommended(claims, slug);
  const signal = AbortSignal.timeout(attemptTimeoutMs);
  const footer = { text: `You asked for this report of the workspace ${week.workspace.name} just now.` };
  try {
    const mail = reportMail(week, coverage, recommended, footer, serviceAddress());
    await sendMail({ to: [email], messageId: `report-${randomUUID()}`, ...mail }, signal);
    return { sent_to: email, week: week.from, error: null };
  } catch (error) {
    return { sent_to: email, week: week.from, error: explainFailure(error, signal) };
  }
}

/** Ends the subscription that an unsubscribe link belongs to. The answer is the same for every link, so that none can be probed. */
export async function endByLink(token: string): Promise<{ ended: true }> {
  await endReport(hashOf(token));
  return { ended: true };
}

async function loadSubscription(client: PoolClient, workspaceId: string): Promise<WeeklyReport> {
  const row = await selectSubscription(client, workspaceId);
  return {
    enabled: row !== undefined,
    time_zone: row?.time_zone ?? null,
    next_at: row ? toInstant(row.next_at.getTime()) : null,
    can_mail: canSendMail(),
  };
}

/** @throws ServiceError validation_failed if this service cannot send mail */
function requireMail(): void {
  if (canSendMail()) return;
  const message = "needs a mail server: the operator of this service sets SMTP_URL";
  throw validationFailed([{ path: "enabled", message }]);
}

/** @throws ServiceError validation_failed for a time zone that Postgres does not know, or the error itself */
function explainZone(error: unknown): never {
  if (sqlState(error) !== "22023") throw error;
  const message = "must be the name of a time zone, like Europe/Berlin or UTC";
  throw validationFailed([{ path: "time_zone", message }]);
}
