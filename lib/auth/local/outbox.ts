import { database } from "@/lib/db/pool";
import { supabaseProject } from "@/lib/env";
import { type Purpose, postMail } from "./queries";

/** A mail that would have been sent. */
export type Mail = {
  id: string;
  recipient: string;
  subject: string;
  body: string;
  link: string | null;
  code: string | null;
  created_at: Date;
};

const words = {
  recovery: {
    subject: "Choose a new password",
    body: "Somebody asked to choose a new password for this account. The link works once, within an hour. If it was not you, there is nothing to do: your password stays.",
  },
  magiclink: {
    subject: "Your link to sign in",
    body: "The link signs you in once, within an hour. If you did not ask for it, there is nothing to do.",
  },
  unknown: {
    subject: "There is no account for this address",
    body: "Somebody asked for a link for this address, but there is no account for it. If it was you, try the address you signed up with, or sign up.",
  },
};

/** Puts a link into the outbox; for an address without an account, word that there is none. */
export async function sendLink(mail: {
  email: string;
  purpose: Purpose;
  known: boolean;
  link: string;
  code: string;
}): Promise<void> {
  const { email, purpose, known, link, code } = mail;
  const secrets = known ? { link, code } : { link: null, code: null };
  await postMail({ recipient: email, ...words[known ? purpose : "unknown"], ...secrets });
}

/** The latest mails, the newest first; undefined where a Supabase project sends real ones. */
export async function readOutbox(limit = 50): Promise<Mail[] | undefined> {
  if (supabaseProject()) return undefined;
  const { rows } = await database().query<Mail>("select * from local_auth.read_outbox($1)", [limit]);
  return rows;
}
