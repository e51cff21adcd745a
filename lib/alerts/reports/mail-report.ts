import type { ClaimedReport } from "@/lib/alerts/delivery/claimed";
import type { MailFooter } from "@/lib/alerts/mail/content";
import { type Mail, Unwanted } from "@/lib/alerts/mail/send-mail";
import { readCoverage } from "@/lib/bills/coverage";
import type { UserClaims } from "@/lib/db/transaction";
import { ServiceError } from "@/lib/errors";
import { serviceAddress } from "@/lib/service-address";
import { readRecommended } from "@/lib/spend/recommendations/service";
import { readWeek } from "@/lib/spend/weekly/service";
import { hashOf, newToken } from "./link";
import { reportMail } from "./mail";
import { addReportLink } from "./report-queries";

/** Reads the week of a report and writes its mail. @throws Unwanted if the reader may not read the workspace any more */
export async function mailReport({ report, workspace, workspace_id }: ClaimedReport): Promise<Mail> {
  if (!report) throw new Unwanted("The reader has left.");
  const { user_id, week: monday, email, time_zone: zone } = report;
  const week = await readWeek(claimsOf(report), workspace.slug, zone, monday).catch((error: unknown) => {
    // Sends nothing to a reader who may not read the workspace, or who lacks the second factor that it requires.
    const isRefused =
      error instanceof ServiceError &&
      ["not_found", "mfa_required", "permission_denied"].includes(error.code);
    throw isRefused ? new Unwanted("The reader may not read the workspace.") : error;
  });
  const coverage = await readCoverage(claimsOf(report), workspace.slug);
  const recommended = await readRecommended(claimsOf(report), workspace.slug);
  const token = newToken();
  await addReportLink(workspace_id, user_id, hashOf(token));
  const base = serviceAddress();
  const footer: MailFooter = {
    text: `You receive this each Monday because you asked for the weekly report of the workspace ${workspace.name}.`,
    link: { text: "Unsubscribe", url: `${base}/workspaces/unsubscribe?token=${token}` },
  };
  return {
    to: [email],
    messageId: `report-${workspace_id}-${user_id}-${monday}`,
    endUrl: `${base}/api/v1/weekly-report/end?token=${token}`,
    ...reportMail(week, coverage, recommended, footer, base),
  };
}

/**
 * The reader's claims, so that a report shows only what the reader may read. Nobody is signed in, so a reader with a verified
 * second factor counts as having passed it: access to the mailbox stands for the sign-in.
 */
function claimsOf({ user_id, email, has_factor }: NonNullable<ClaimedReport["report"]>): UserClaims {
  return { sub: user_id, role: "authenticated", session_id: "", email, aal: has_factor ? "aal2" : "aal1" };
}
