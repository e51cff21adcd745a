import { createTransport, type Transporter } from "nodemailer";
import { postLocalMail } from "@/lib/access/sign-in/local/outbox";
import { env, supabaseProject } from "@/lib/env";

/** What a mail says. `link` is the one that the local outbox shows as a button. */
export type MailContent = { subject: string; text: string; html: string; link: string | null };

/** A mail. */
export type Mail = MailContent & {
  to: string[];
  /** The same for each attempt, so that a mail server may recognise what it received before. */
  messageId: string;
  /** Ends what the mail is part of when it is posted to: the one click of RFC 8058. */
  endUrl?: string;
};

/** Nobody wants a mail any more that is to be written. The message says why. */
export class Unwanted extends Error {
  override name = "Unwanted";
}

/** Whether mails can be sent, or kept in the local outbox. A Supabase project has no outbox of ours. */
export function canSendMail(): boolean {
  return env().SMTP_URL !== undefined || supabaseProject() === undefined;
}

let transport: Transporter | undefined;

/**
 * Sends a mail by the server in SMTP_URL, or puts it into the local outbox where none is set.
 * @throws Error where the server does not take it, or `signal` aborts
 */
export async function sendMail(mail: Mail, signal: AbortSignal): Promise<void> {
  const { to, subject, text, html, link, messageId, endUrl } = mail;
  const { SMTP_URL, SMTP_FROM } = env();
  if (SMTP_URL === undefined || SMTP_FROM === undefined) {
    if (!canSendMail()) throw new Error("There is no mail server: SMTP_URL is not set.");
    for (const recipient of to) await postLocalMail({ recipient, subject, body: text, link });
    return;
  }
  transport ??= createTransport({
    url: SMTP_URL,
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 15_000,
    dnsTimeout: 10_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const sent = transport.sendMail({
    from: SMTP_FROM,
    to,
    subject,
    text,
    html,
    messageId: `<${messageId}@outlay>`,
    headers: {
      "Auto-Submitted": "auto-generated",
      ...(endUrl && {
        "List-Unsubscribe": `<${endUrl}>`,
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
      }),
    },
  });
  await Promise.race([sent, rejectOnAbort(signal)]);
}

/** nodemailer takes no signal; its own timeouts end the connection later. */
function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
