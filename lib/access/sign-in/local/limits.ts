import { accountQuota, addressQuota, hourMs, type Quota, throttle } from "@/lib/access/throttle";
import { env } from "@/lib/env";
import { ServiceError } from "@/lib/errors";
import { AuthProtocolError } from "./protocol";
import { countAttempt, forgetAttempts } from "./queries";
import type { Origin } from "./session";

const quarterMs = hourMs / 4;

/**
 * How often one address, and one account, may do what costs a password hash, a mail or an account. Wide enough for an
 * office or a school behind one address; the narrow limits that end guessing are the lockouts beside them.
 */
const limits = {
  "sign-ups": { perAddress: [100, hourMs], perAccount: [10, hourMs] },
  "sign-ins": { perAddress: [200, quarterMs], perAccount: () => [env().AUTH_SIGN_IN_LIMIT, quarterMs] },
  "changes of the account": { perAddress: [200, quarterMs], perAccount: [30, quarterMs] },
  "mails asked for": { perAddress: [60, hourMs] },
  "codes tried": { perAddress: [60, quarterMs] },
  "links opened": { perAddress: [200, quarterMs] },
  "sessions renewed": { perAddress: [2000, quarterMs] },
} as const satisfies Record<string, Limits>;

type Rate = readonly [limit: number, windowMs: number];
type Limits = { perAddress: Rate; perAccount?: Rate | (() => Rate) };

/**
 * Counts an attempt before it is made, and alike for addresses with and without an account: a limit tells nothing.
 * @param account it is about, by its address in lower case or its id, where the request names one
 * @throws AuthProtocolError over_request_rate_limit, which the clients know, with an exact Retry-After
 */
export async function limitAttempts(
  action: keyof typeof limits,
  { address }: Origin,
  account?: string,
): Promise<void> {
  const { perAddress, perAccount }: Limits = limits[action];
  const quotas: Quota[] = addressQuota(address ?? undefined, ...perAddress);
  if (perAccount && account !== undefined) {
    const rate = typeof perAccount === "function" ? perAccount() : perAccount;
    quotas.push(...accountQuota(account, ...rate));
  }
  try {
    await throttle(action, quotas);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "rate_limited") throw error;
    const message = `For security purposes, you can only request this after ${error.fields.retry_after_seconds} seconds.`;
    throw new AuthProtocolError(429, "over_request_rate_limit", message, {}, error.headers);
  }
}

/** Ten wrong passwords for one account in a quarter of an hour, then it has to wait. */
const wrongPasswords = { allowed: 10, windowSeconds: 15 * 60 };

/** Mails to one address: enough for who loses one, too few to guess their six digits or to bury the outbox. */
const mails = { allowed: 5, windowSeconds: 10 * 60 };

/**
 * Counts a password that is about to be looked at, for every address alike: guesses that run at once cannot slip through,
 * and a lock tells nothing of whether there is an account. Signing in and proving a present password count together.
 * @returns to be called once the password was right
 * @throws AuthProtocolError over_request_rate_limit
 */
export async function countPasswordGuess(email: string): Promise<() => Promise<void>> {
  const subject = `sign-in:${email}`;
  const seconds = await countAttempt(subject, wrongPasswords.allowed, wrongPasswords.windowSeconds);
  if (seconds > 0) {
    const message = `Too many wrong passwords. Try again in ${seconds} seconds, or reset the password.`;
    throw tooOften("over_request_rate_limit", message, seconds);
  }
  return () => forgetAttempts(subject);
}

/** Counts a mail to an address before it is sent. @throws AuthProtocolError over_email_send_rate_limit */
export async function countMail(email: string): Promise<void> {
  const seconds = await countAttempt(`mail:${email}`, mails.allowed, mails.windowSeconds);
  if (seconds <= 0) return;
  const message = `For security purposes, you can only request this after ${seconds} seconds.`;
  throw tooOften("over_email_send_rate_limit", message, seconds);
}

function tooOften(code: string, message: string, seconds: number): AuthProtocolError {
  return new AuthProtocolError(429, code, message, {}, { "Retry-After": String(seconds) });
}
