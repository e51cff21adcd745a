import type { ClientBase, Pool } from "pg";
import { callFunction } from "@/lib/db/query";
import { callAsService } from "@/lib/db/transaction";
import { inPasswordQueue, onSignInShare } from "./queues";

/** A user in Supabase Auth's format. Only members that our code reads are typed. */
export type AuthUser = { id: string; email: string; [field: string]: unknown };

/** An open session. Its new refresh token is stored only as a hash. */
export type OpenSession = {
  session_id: string;
  refresh_token: string;
  user: AuthUser;
  /** The level of the session: `aal2` after a second factor. */
  aal: "aal1" | "aal2" | "aal3";
  /** The methods of the sign-in, the latest first; `timestamp` in seconds. */
  amr: { method: string; timestamp: number }[];
};

/** Why a function of the local sign-in refused a request. */
export type AccountRefusal<Code extends string> = { refused: Code };

/** Calls a function of `supabase/bootstrap/5x_…`. Values are sent as parameters. */
export function call<T>(name: string, values: unknown[], client?: Pool | ClientBase): Promise<T | null> {
  const qualified = `local_auth.${name}`;
  return client
    ? callFunction(client, qualified, ...values)
    : onSignInShare(() => callAsService(qualified, ...values));
}

/** Returns a function's result. @throws Error if it returned nothing */
export function answered<T>(result: T | null): T {
  if (result === null) throw new Error("A function of the local sign-in returned nothing.");
  return result;
}

/**
 * Creates an account. Its password is hashed on `client`, so `client` should come from `inPasswordQueue`.
 * @returns null if the address is taken
 */
export function createUser(
  email: string,
  password: string,
  data: Record<string, unknown>,
  client: Pool | ClientBase,
): Promise<AuthUser | null> {
  return call("create_user", [email, password, JSON.stringify(data)], client);
}

/**
 * Creates an account with its profile and personal workspace, for a seed or a test. Leaves an existing account unchanged,
 * including its password.
 * @param client logged in as the service, or as the owner of the schema
 * @returns the user's id
 */
export async function createLocalUser(
  client: Pool | ClientBase,
  account: { email: string; password: string; displayName?: string },
): Promise<string> {
  const { email, password, displayName } = account;
  const data = displayName === undefined ? {} : { display_name: displayName };
  const user = await createUser(email, password, data, client);
  return user?.id ?? answered(await call<string>("find_user", [email], client));
}

/** @returns the user's id, or null. It takes the same time for an address without an account. */
export function checkPassword(email: string, password: string): Promise<string | null> {
  return inPasswordQueue((client) => call("check_password", [email, password], client));
}

/** The changes of a user's account, with the proof that a new password requires. */
export type UserChanges = {
  data?: Record<string, unknown> | undefined;
  password?: string | undefined;
  current_password?: string | undefined;
  /** The six digits of a reauthentication mail. */
  nonce?: string | undefined;
  email?: string | undefined;
  mail?: ChangeMails | undefined;
};

export type RefusedChange =
  | "same_password"
  | "email_exists"
  | "current_password_invalid"
  | "reauthentication_needed"
  | "reauthentication_not_valid"
  | "user_data_too_large"
  | "conflict";

/** Makes all of the changes or none. Hashes a new password in the password queue. */
export async function updateUser(
  userId: string,
  sessionId: string,
  changes: UserChanges,
): Promise<{ user: AuthUser } | AccountRefusal<RefusedChange>> {
  const values = [userId, sessionId, JSON.stringify(changes)];
  const run = (client?: ClientBase) =>
    call<{ user: AuthUser } | AccountRefusal<RefusedChange>>("update_user", values, client);
  return answered(await (changes.password === undefined ? run() : inPasswordQueue(run)));
}

/** Starts a session. @param method how the user proved their identity, as `amr` lists it: `otp` is a link or code from a mail */
export async function openSession(
  userId: string,
  method: "password" | "otp",
  from: { userAgent: string | null; address: string | null },
): Promise<OpenSession> {
  return answered(await call("open_session", [userId, method, from.userAgent, from.address]));
}

/** Rotates a refresh token. A token that was used before ends its session. */
export async function refreshSession(
  refreshToken: string,
): Promise<OpenSession | AccountRefusal<"refresh_token_not_found" | "refresh_token_already_used">> {
  return answered(await call("refresh_session", [refreshToken]));
}

/** @returns the session's user; null if the session has ended or is another user's */
export function readSessionUser(sessionId: string, userId: string): Promise<AuthUser | null> {
  return call("read_session_user", [sessionId, userId]);
}

/** Ends sessions of a user: this one (`local`), all (`global`) or all others (`others`). */
export async function closeSessions(userId: string, sessionId: string, scope: string): Promise<void> {
  await call("close_sessions", [userId, sessionId, scope]);
}

/** The purpose of a sign-in mail. `MailPurpose` adds the mails for a change of address and for a reauthentication. */
export type SignInPurpose = "recovery" | "magiclink";
export type MailPurpose = SignInPurpose | "email_change_current" | "email_change_new" | "reauthentication";

/** The secrets of a mail: the hash of its link's token, and six digits. */
export type MailSecrets = { link_hash: string; code: string };

/** The secrets of the two mails that confirm a new address, and the PKCE challenge of the client that asked, if any. */
export type ChangeMails = { current: MailSecrets; new: MailSecrets; challenge: string | null };

/** Replaces the secrets of a pending change. @returns the new address; null without a pending change of address */
export function renewEmailChange(email: string, mail: ChangeMails): Promise<string | null> {
  return call("renew_email_change", [email, JSON.stringify(mail)]);
}

/**
 * Stores the secrets of a sign-in mail.
 * @param challenge the PKCE challenge of the client that asked, if any
 * @param newAccount the data of the account that is created for an unknown address; null to create none
 * @returns whether the address has an account; both cases take the same work
 */
export async function issueSignInMail(
  email: string,
  purpose: SignInPurpose,
  { link_hash, code }: MailSecrets,
  challenge: string | null,
  newAccount: Record<string, unknown> | null,
): Promise<boolean> {
  const data = newAccount && JSON.stringify(newAccount);
  return answered(await call("issue_sign_in_mail", [email, purpose, link_hash, code, challenge, data]));
}

/** Stores the code of a reauthentication mail. */
export async function issueReauthentication(userId: string, code: string): Promise<void> {
  await call("issue_reauthentication", [userId, code]);
}

/** The result of a verified mail. */
export type RedeemedMail = {
  user_id: string;
  /** Whether the offered code can now be exchanged for a session. */
  code_issued: boolean;
  /** The first of two confirmations of a change of address. */
  pending?: true;
  refused?: "email_exists";
};

/**
 * Redeems the token of a mail's link.
 * @param offeredCodeHash hash of the code that the browser receives if the link was requested with PKCE; null to
 *   receive a session in any case
 */
export function redeemLink(
  linkHash: string,
  purposes: MailPurpose[],
  offeredCodeHash: string | null,
): Promise<RedeemedMail | null> {
  return call("redeem_link", [linkHash, purposes, offeredCodeHash]);
}

/** Redeems the six digits of a mail to an address. @returns null if they are wrong or expired */
export function redeemSignInCode(
  email: string,
  code: string,
  purposes: MailPurpose[],
): Promise<RedeemedMail | null> {
  return call("redeem_code", [email, code, purposes]);
}

/** Redeems the code from an opened link. A wrong verifier does not use it up. @returns the user's id */
export async function redeemAuthCode(
  codeHash: string,
  verifier: string,
): Promise<string | AccountRefusal<"flow_state_not_found" | "bad_code_verifier">> {
  return answered(await call("redeem_auth_code", [codeHash, verifier]));
}

/** Stores `offered` as the signing key if there is none. @returns the key that all processes of this database use */
export function storeSigningKey<T>(offered: T | null): Promise<T | null> {
  return call("keep_signing_key", [offered === null ? null : JSON.stringify(offered)]);
}

/** Stores a mail in the outbox. */
export async function postMail(mail: {
  recipient: string;
  subject: string;
  body: string;
  link: string | null;
  code: string | null;
}): Promise<void> {
  await call("post_mail", [mail.recipient, mail.subject, mail.body, mail.link, mail.code]);
}
