import { attemptTimeoutMs, explain } from "@/lib/alerts/delivery/attempt";
import { retryDelayMs } from "@/lib/alerts/delivery/backoff";
import type { MailFooter } from "@/lib/alerts/mail/content";
import { canSendMail, sendMail } from "@/lib/alerts/mail/send-mail";
import type { UserClaims } from "@/lib/db/transaction";
import { ServiceError } from "@/lib/errors";
import { reportFailure } from "@/lib/log";
import { serviceAddress } from "@/lib/service-address";
import { readWeek } from "@/lib/spend/weekly/service";
import { hashOf, newToken } from "./link";
import { reportMail } from "./mail";
import { addReportLink, type ClaimedReport, claimReports, finishReport } from "./report-queries";

/** How many reports one process reads and sends at once; each reads a week of a workspace. */
const reportsAtOnce = 4;

/** Longer than reading a week and sending a mail may take. */
const leaseSeconds = 120;

/** Sends the weekly reports that are due. @returns how many it sent */
export async function sendReports(): Promise<number> {
  if (!canSendMail()) return 0;
  let sent = 0;
  for (;;) {
    const claimed = await claimReports(reportsAtOnce, leaseSeconds);
    const states = await Promise.all(claimed.map(sendOne));
    sent += states.filter((state) => state === "sent").length;
    if (claimed.length < reportsAtOnce) return sent;
  }
}

async function sendOne(report: ClaimedReport): Promise<string | null> {
  const signal = AbortSignal.timeout(leaseSeconds * 1000);
  try {
    await mailReport(report);
    return await finishReport(report, null, null);
  } catch (error) {
    // A reader who may not read the workspace without a second factor, or not at all, receives nothing.
    const isRefused =
      error instanceof ServiceError &&
      ["not_found", "mfa_required", "permission_denied"].includes(error.code);
    if (!isRefused) reportFailure(error, "A weekly report was not sent.");
    return finishReport(
      report,
      isRefused ? "The reader may not read the workspace." : explain(error, signal),
      isRefused ? null : retryDelayMs(report.attempts),
    );
  }
}

async function mailReport(report: ClaimedReport): Promise<void> {
  const { workspace_id, user_id, week: monday, email, time_zone: zone, workspace } = report;
  const week = await readWeek(claimsOf(report), workspace.slug, zone, monday);
  const token = newToken();
  await addReportLink(workspace_id, user_id, hashOf(token));
  const base = serviceAddress();
  const footer: MailFooter = {
    text: `You receive this each Monday because you asked for the weekly report of the workspace ${workspace.name}.`,
    link: { text: "Unsubscribe", url: `${base}/workspaces/unsubscribe?token=${token}` },
  };
  await sendMail(
    {
      to: [email],
      messageId: `report-${workspace_id}-${user_id}-${monday}`,
      endUrl: `${base}/api/v1/weekly-report/end?token=${token}`,
      ...reportMail(week, footer, base),
    },
    AbortSignal.timeout(attemptTimeoutMs),
  );
}

/**
 * The reader's claims, so that a report shows what the reader may read. Nobody is signed in: who has a second factor is
 * taken to have proved it, as their mailbox is what they sign in with.
 */
function claimsOf({ user_id, email, has_factor: hasFactor }: ClaimedReport): UserClaims {
  return {
    sub: user_id,
    role: "authenticated",
    session_id: "",
    email,
    aal: hasFactor ? "aal2" : "aal1",
  };
}
