import { createTransport, type Transporter } from "nodemailer";
import { postLocalMail } from "@/lib/access/sign-in/local/outbox";
import { env, supabaseProject } from "@/lib/env";

/** The content of a mail. The local outbox shows `link` as a button. */
export type MailContent = { subject: string; text: string; html: string; link: string | null };

/** A mail. */
export type Mail = MailContent & {
  to: string[];
  /** The same for each attempt, so that a mail server can recognise a repetition. */
  messageId: string;
  /** The URL that ends the subscription when it is posted to (one-click unsubscribe, RFC 8058). */
  endUrl?: string;
};

/** Thrown when a mail no longer has a recipient. The message says why. */
export class Unwanted extends Error {
  override name = "Unwanted";
}

/** Whether mails can be sent or kept in the local outbox, which does not exist with a Supabase project. */
export function canSendMail(): boolean {
  return env().SMTP_URL !== undefined || supabaseProject() === undefined;
}

let transport: Transporter | undefined;

/**
 * Sends a mail through the server in SMTP_URL, or puts it into the local outbox if none is set.
 * @throws Error if the server does not accept it, or `signal` aborts
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

/** A promise that rejects on abort. nodemailer accepts no signal; its own timeouts end the connection later. */
function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
