import {
  accountQuota,
  addressQuota,
  forgetAttempts,
  hourMs,
  minuteMs,
  type Quota,
  throttle,
} from "@/lib/access/throttle";
import { env } from "@/lib/env";
import { ServiceError } from "@/lib/errors";
import { AuthProtocolError } from "./protocol";
import { onSignInShare } from "./queues";
import type { Origin } from "./request";

const quarterMs = hourMs / 4;

/**
 * Limits per address and per account for requests that cost a password hash, a mail or an account. They are wide enough
 * for an office or a school behind one address; `guesses` has the narrow limits that stop guessing.
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
 * Counts an attempt before it is made. It counts whether or not the account exists, so that a limit reveals nothing.
 * @param account the account it is about, by its address in lower case or its id, where the request names one
 * @throws AuthProtocolError over_request_rate_limit, which the clients understand, with an exact Retry-After
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
  await count(action, quotas);
}

const waitAWhile = (seconds: number) =>
  `For security purposes, you can only request this after ${seconds} seconds.`;

/** Mails to one address: enough for a user who loses one, too few to guess their six digits or to flood the outbox. */
const mailsToAddress = { limit: 5, windowMs: 10 * minuteMs };

/** Counts a mail to an address before it is sent. @throws AuthProtocolError over_email_send_rate_limit */
export async function countMail(email: string): Promise<void> {
  const quotas = accountQuota(email, mailsToAddress.limit, mailsToAddress.windowMs);
  await count("mails to one address", quotas, "over_email_send_rate_limit");
}

/** The secrets of an account that could be guessed, and how many wrong guesses are allowed. */
const guesses = {
  "wrong passwords": {
    rates: [[10, quarterMs]],
    code: "over_request_rate_limit",
    message: (seconds) => `Too many wrong passwords. Try again in ${seconds} seconds, or reset the password.`,
  },
  // Over all factors and sessions of a user. Three of a million codes are valid at any time: at fifty tries a day, a
  // guess succeeds once in 18 years.
  "wrong codes": {
    rates: [
      [10, quarterMs],
      [50, 24 * hourMs],
    ],
    code: "over_request_rate_limit",
    message: (seconds) => `Too many wrong codes. Try again in ${seconds} seconds, or use a recovery code.`,
  },
  // A recovery code has 80 bits and cannot be guessed; this limit bounds the work of the database.
  "wrong recovery codes": {
    rates: [[10, quarterMs]],
    code: "mfa_recovery_codes_locked",
    message: (seconds) => `Too many wrong recovery codes. Try again in ${seconds} seconds.`,
  },
} satisfies Record<string, { rates: Rate[]; code: string; message: (seconds: number) => string }>;

/**
 * Counts a guess before it is checked, whether or not the account exists: parallel guesses cannot bypass the limit, and
 * a lock does not reveal whether there is an account.
 * @param account the mail address in lower case, or the user's id
 * @returns a function that resets the count; call it after a right guess
 * @throws AuthProtocolError with the code of this kind of guess
 */
export async function countGuess(
  action: keyof typeof guesses,
  account: string,
): Promise<() => Promise<void>> {
  const { code, message } = guesses[action];
  await count(action, quotasOf(action, account), code, message);
  return () => forgetGuesses(action, account);
}

/** Resets the count of wrong guesses. @param account as for `countGuess` */
export async function forgetGuesses(action: keyof typeof guesses, account: string): Promise<void> {
  await onSignInShare(() => forgetAttempts(action, quotasOf(action, account)));
}

function quotasOf(action: keyof typeof guesses, account: string): Quota[] {
  const rates: readonly Rate[] = guesses[action].rates;
  return rates.flatMap(([limit, windowMs]) => accountQuota(account, limit, windowMs));
}

/** Counts an attempt before it is made. @throws AuthProtocolError with `code` and an exact Retry-After where a quota is full */
export async function count(
  action: string,
  quotas: Quota[],
  code = "over_request_rate_limit",
  message = waitAWhile,
): Promise<void> {
  try {
    await onSignInShare(() => throttle(action, quotas));
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "rate_limited") throw error;
    const seconds = Number(error.fields.retry_after_seconds);
    throw new AuthProtocolError(429, code, message(seconds), {}, error.headers);
  }
}
