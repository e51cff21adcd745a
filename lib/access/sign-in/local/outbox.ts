import type { ClientBase } from "pg";
import { isOperatorToken } from "@/lib/access/operator";
import { bigint, nullable, type Row, text, timestamp } from "@/lib/db/columns";
import { selectAll } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";
import { asServiceAlone } from "@/lib/db/transaction";
import { type Env, env, supabaseProject } from "@/lib/env";
import { type MailPurpose, postMail } from "./account-queries";

const mailRow = {
  id: bigint(),
  recipient: text(),
  subject: text(),
  body: text(),
  link: nullable(text()),
  code: nullable(text()),
  created_at: timestamp(),
};

/** A mail in the outbox. The local sign-in stores mails instead of sending them. */
export type OutboxMail = Row<typeof mailRow>;

const words = {
  recovery: {
    subject: "Choose a new password",
    body: "Somebody asked to choose a new password for this account. The link works once, within an hour. If it was not you, ignore this mail: your password does not change.",
  },
  magiclink: {
    subject: "Your link to sign in",
    body: "The link signs you in once, within an hour. If you did not ask for it, ignore this mail.",
  },
  email_change_current: {
    subject: "Confirm your new e-mail address",
    body: "Somebody who is signed in to this account asked to change its address to {about}. It changes once this link and the one sent to the new address have been opened, within an hour. If it was not you, do not open the link, and change your password.",
  },
  email_change_new: {
    subject: "Confirm your new e-mail address",
    body: "Somebody asked to make {about} the address of their account. It changes once this link and the one sent to their present address have been opened, within an hour. If it was not you, ignore this mail.",
  },
  reauthentication: {
    subject: "Your code to confirm a change",
    body: "The code confirms once, within an hour, that it is you who changes your password. If you did not ask for it, change your password: somebody is signed in to your account.",
  },
  unknown: {
    subject: "There is no account for this address",
    body: "Somebody asked for a link for this address, but there is no account for it. If it was you, try the address you signed up with, or sign up.",
  },
};

/** Puts a mail into the outbox. @param about the new address, in a mail about a change of address */
export async function sendSignInMail(mail: {
  email: string;
  purpose: MailPurpose | "unknown";
  about?: string;
  link?: string;
  code?: string;
}): Promise<void> {
  const { email, purpose, about = "", link = null, code = null } = mail;
  const { subject, body } = words[purpose];
  await postMail({ recipient: email, subject, body: body.replace("{about}", () => about), link, code });
}

const notices = {
  factorAdded: {
    subject: "An authenticator app was added to your account",
    body: "Signing in asks for its code from now on. If it was not you, change your password and remove it in your account's settings.",
  },
  factorRemoved: {
    subject: "An authenticator app was removed from your account",
    body: "Its codes are not asked for any more. If it was not you, change your password.",
  },
  recoveryCodeUsed: {
    subject: "A recovery code was used to sign in to your account",
    body: "If it was not you, change your password and make new recovery codes in your account's settings.",
  },
};

/** Puts a notice about a user's account into the outbox. @param more an additional sentence */
export async function sendNotice(email: string, notice: keyof typeof notices, more = ""): Promise<void> {
  const { subject, body } = notices[notice];
  await postMail({ recipient: email, subject, body: `${body} ${more}`.trim(), link: null, code: null });
}

/** Puts a mail of another part of the service into the outbox, if no mail server is set. */
export async function postLocalMail(mail: {
  recipient: string;
  subject: string;
  body: string;
  link: string | null;
}): Promise<void> {
  await postMail({ ...mail, code: null });
}

/**
 * Whether this instance has an outbox, and whether a caller may read it. Its links sign users in, so only callers with the link
 * that the service prints at its start may read it, unless OUTLAY_OUTBOX says otherwise. With a Supabase project there is no outbox.
 * @param given the value of the caller's operator cookie
 */
export function outboxAccess(given: string | undefined, settings: Env = env()): "none" | "closed" | "open" {
  if (supabaseProject(settings) || settings.OUTLAY_OUTBOX === "off") return "none";
  return settings.OUTLAY_OUTBOX === "everyone" || isOperatorToken(given) ? "open" : "closed";
}

/** Reads the outbox, the newest mails first; undefined if a Supabase project sends the mails. */
export async function readOutbox(limit = 50): Promise<OutboxMail[] | undefined> {
  if (supabaseProject()) return undefined;
  return asServiceAlone((client) => selectOutbox(client, limit));
}

/** The newest mails first. @param client logged in as the service */
export function selectOutbox(client: ClientBase, limit: number): Promise<OutboxMail[]> {
  return selectAll(
    client,
    mailRow,
    sql`select id, recipient, subject, body, link, code, created_at from local_auth.read_outbox(${limit})`,
  );
}
