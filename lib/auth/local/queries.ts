import type { ClientBase, Pool } from "pg";
import { database } from "@/lib/db/pool";

/** A user as Supabase Auth describes one. Only what this code itself reads is named. */
export type AuthUser = { id: string; email: string; [field: string]: unknown };

/** An open session, with the one copy of its new refresh token. */
export type OpenSession = {
  session_id: string;
  refresh_token: string;
  user: AuthUser;
  /** How strongly the user proved who they are: `aal2` after a second factor. */
  aal: "aal1" | "aal2" | "aal3";
  /** What they proved it with, the latest first; `timestamp` in seconds. */
  amr: { method: string; timestamp: number }[];
};

type Refused<Code extends string> = { refused: Code };
export type Purpose = "recovery" | "magiclink";

/** Runs one function of `supabase/bootstrap/5x`. Values are parameters: they are in no statement's text. */
async function call<T>(
  name: string,
  values: unknown[],
  client: Pool | ClientBase = database(),
): Promise<T | null> {
  const places = values.map((_, index) => `$${index + 1}`).join(", ");
  const { rows } = await client.query(`select local_auth.${name}(${places}) as result`, values);
  return rows[0]?.result ?? null;
}

/** @returns null where the address is taken */
export function createUser(
  email: string,
  password: string | null,
  data: Record<string, unknown>,
  client?: Pool | ClientBase,
): Promise<AuthUser | null> {
  return call("create_user", [email, password, JSON.stringify(data)], client);
}

/** @returns the id of the account with this address, or null */
export function findUser(email: string, client?: Pool | ClientBase): Promise<string | null> {
  return call("find_user", [email], client);
}

/** @returns the user's id, or null; in the same time for an address that has no account */
export function checkPassword(email: string, password: string): Promise<string | null> {
  return call("check_password", [email, password]);
}

export async function updateUser(
  userId: string,
  sessionId: string,
  changes: { email?: string; password?: string; data?: Record<string, unknown> },
): Promise<{ user: AuthUser } | Refused<"same_password" | "email_exists">> {
  return answered(await call("update_user", [userId, sessionId, JSON.stringify(changes)]));
}

export async function openSession(
  userId: string,
  method: string,
  from: { userAgent: string | null; address: string | null },
): Promise<OpenSession> {
  return answered(await call("open_session", [userId, method, from.userAgent, from.address]));
}

export async function refreshSession(
  refreshToken: string,
): Promise<OpenSession | Refused<"refresh_token_not_found" | "refresh_token_already_used">> {
  return answered(await call("refresh_session", [refreshToken]));
}

/** @returns null where the session is over, or is not this user's */
export function readSessionUser(sessionId: string, userId: string): Promise<AuthUser | null> {
  return call("read_session_user", [sessionId, userId]);
}

export async function closeSessions(userId: string, sessionId: string, scope: string): Promise<void> {
  await call("close_sessions", [userId, sessionId, scope]);
}

/** @returns whether the address has an account; the work is the same where it has none */
export async function issueEmailToken(token: {
  email: string;
  purpose: Purpose;
  linkHash: string;
  codeHash: string;
  challenge: string | null;
  challengeMethod: string | null;
  mayCreate: boolean;
  data: Record<string, unknown>;
}): Promise<boolean> {
  const { email, purpose, linkHash, codeHash, challenge, challengeMethod, mayCreate, data } = token;
  const metadata = JSON.stringify(data);
  return answered(
    await call("issue_email_token", [
      email,
      purpose,
      linkHash,
      codeHash,
      challenge,
      challengeMethod,
      mayCreate,
      metadata,
    ]),
  );
}

/** @param offeredCodeHash of the code the opener gets where the link was asked for with PKCE; null for a session anyway */
export function redeemLink(
  linkHash: string,
  offeredCodeHash: string | null,
): Promise<{ user_id: string; purpose: Purpose; code_issued: boolean } | null> {
  return call("redeem_link", [linkHash, offeredCodeHash]);
}

export function redeemCode(
  email: string,
  codeHash: string,
  purposes: Purpose[],
): Promise<{ user_id: string; purpose: Purpose } | null> {
  return call("redeem_code", [email, codeHash, purposes]);
}

export function redeemAuthCode(
  codeHash: string,
): Promise<{ user_id: string; purpose: Purpose; challenge: string; method: "s256" | "plain" } | null> {
  return call("redeem_auth_code", [codeHash]);
}

/** Counts an attempt before it is made. @returns 0, or how long to wait before the next */
export async function countAttempt(subject: string, allowed: number, windowSeconds: number): Promise<number> {
  return answered(await call("count_attempt", [subject, allowed, windowSeconds]));
}

export async function forgetAttempts(subject: string): Promise<void> {
  await call("forget_attempts", [subject]);
}

/** @param offered becomes the key where there is none yet. @returns the key of every process on this database */
export function keepSigningKey<T>(offered: T | null): Promise<T | null> {
  return call("keep_signing_key", [offered === null ? null : JSON.stringify(offered)]);
}

export async function postMail(mail: {
  recipient: string;
  subject: string;
  body: string;
  link: string | null;
  code: string | null;
}): Promise<void> {
  await call("post_mail", [mail.recipient, mail.subject, mail.body, mail.link, mail.code]);
}

function answered<T>(result: T | null): T {
  if (result === null) throw new Error("A function of the local sign-in answered nothing.");
  return result;
}
