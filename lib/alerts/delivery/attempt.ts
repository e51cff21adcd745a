import { budgetRequestMail } from "@/lib/alerts/kinds/budget-request";
import { alertMail, budgetMail } from "@/lib/alerts/kinds/email";
import { requestOf } from "@/lib/alerts/kinds/requests";
import { channelOffMail, deletionMail } from "@/lib/alerts/mail/notices";
import { type Mail, sendMail, Unwanted } from "@/lib/alerts/mail/send-mail";
import { mailReport } from "@/lib/alerts/reports/mail-report";
import { env } from "@/lib/env";
import { log, reportFailure } from "@/lib/log";
import { readRetryAfter } from "@/lib/outside/backoff";
import { InternalAddress, internet, type OutsideNetwork } from "@/lib/outside/connect";
import { codeOf, connectionFailure } from "@/lib/outside/connection-failure";
import { serviceAddress } from "@/lib/service-address";
import type { Claimed, Delivery, DeliveryOutcome } from "./claimed";
import { post, RefusedAddress } from "./post";

/** How long one attempt may take, from the DNS lookup to the head of the response. */
export const attemptTimeoutMs = 15_000;

/** Sends a delivery once. Never throws: a failure is an outcome. @param network another one in tests */
export async function attempt(
  delivery: Delivery,
  network: OutsideNetwork = internet,
): Promise<DeliveryOutcome> {
  let signal: AbortSignal | undefined;
  try {
    if ("channel" in delivery && delivery.channel.kind !== "email") {
      signal = AbortSignal.timeout(attemptTimeoutMs);
      return await ask(delivery, network, signal);
    }
    const mail = await mailOf(delivery);
    if (mail.to.length === 0) {
      const error = "None of the addresses belongs to a member of the workspace any more.";
      return { outcome: "failed", status: null, error };
    }
    signal = AbortSignal.timeout(attemptTimeoutMs);
    await sendMail(mail, signal);
    return { outcome: "delivered", status: null };
  } catch (error) {
    if (error instanceof Unwanted) return { outcome: "gone", status: null, error: error.message };
    const reason = explainFailure(error, signal);
    if ("channel" in delivery) {
      // The address is part of some errors of a connection and may be a secret, so the error itself is not logged.
      const address = error instanceof InternalAddress ? { address: error.address } : {};
      log.info({ delivery: delivery.id, reason, ...address }, "An alert was not delivered.");
    } else reportFailure(error, `A mail (${delivery.kind}) was not sent; it will be tried again.`);
    return { outcome: "failed", status: null, error: reason };
  }
}

async function ask(
  delivery: Claimed,
  network: OutsideNetwork,
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  const now = Date.now();
  const request = requestOf(delivery, serviceAddress(), now);
  const { status, retryAfter } = await post(request, { network, allowed: env().ALERT_ALLOWED_HOSTS, signal });
  if (status >= 200 && status < 300) return { outcome: "delivered", status };
  if (status === 410)
    return {
      outcome: "gone",
      status,
      error: "The receiver answered 410 (Gone): it no longer accepts alerts.",
    };
  const error =
    status >= 300 && status < 400
      ? `The receiver answered ${status}, a redirect, which is not followed. Give the channel the new address.`
      : `The receiver answered ${status}.`;
  return { outcome: "failed", status, error, retryAfterMs: readRetryAfter(retryAfter, now) };
}

/** Writes the mail of a delivery. @throws Unwanted if it no longer has a recipient */
async function mailOf(delivery: Delivery): Promise<Mail> {
  const { id } = delivery;
  switch (delivery.kind) {
    case "weekly_report":
      return mailReport(delivery);
    case "alert_mail":
      if (delivery.member === null) throw new Unwanted("The member has left the workspace.");
      return { to: [delivery.member], messageId: id, ...budgetMail(delivery, serviceAddress()) };
    case "budget_request_mail":
      if (delivery.member === null) throw new Unwanted("The member has left the workspace.");
      return {
        to: [delivery.member],
        messageId: id,
        ...budgetRequestMail(delivery.details, delivery.workspace, serviceAddress()),
      };
    case "channel_off":
      if (!delivery.off?.owners.length) throw new Unwanted("The channel is on again, or has no owner.");
      return {
        to: delivery.off.owners,
        messageId: `channel-${id}`,
        ...channelOffMail(delivery.off, delivery.workspace),
      };
    case "workspace_deleted":
    case "workspace_restored":
    case "account_deleted":
    case "account_restored":
      return { to: [delivery.recipient], messageId: `notice-${id}`, ...deletionMail(delivery) };
    default:
      return { to: delivery.channel.recipients, messageId: id, ...alertMail(delivery, serviceAddress()) };
  }
}

const mailReasons: Record<string, string> = {
  EAUTH: "The mail server refused the user name or password of SMTP_URL.",
  EENVELOPE: "The mail server refused the sender or every recipient.",
};

/** Explains an error to people. The text never contains anything that the receiver sent. */
export function explainFailure(error: unknown, signal: AbortSignal | undefined): string {
  if (signal?.aborted) return `There was no answer within ${attemptTimeoutMs / 1000} seconds.`;
  if (error instanceof InternalAddress)
    return "The host has an address that is not public. To allow it, the operator adds the host to ALERT_ALLOWED_HOSTS.";
  if (error instanceof RefusedAddress) return `The channel's address ${error.message}.`;
  const code = codeOf(error);
  const known = connectionFailure(error) ?? mailReasons[code];
  if (known) return known;
  if (/^(CERT|ERR_TLS|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code))
    return `The host's certificate is not valid (${code}).`;
  return /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? `The connection failed (${code}).` : "It could not be sent.";
}
