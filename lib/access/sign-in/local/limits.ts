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

const quarterMs = hourMs / 4;

type Rate = readonly [limit: number, windowMs: number];

/** How often one address and one account may do something, the error code of a refusal, and its text for a wait of `n` seconds. */
type Limit = { perAddress?: Rate; perAccount?: Rate[]; code?: string; says?: (n: number) => string };

const limits = {
  // Actions that cost a password hash, a mail or an account. The limits suffice for an office or a school behind one address.
  "sign-ups": () => ({ perAddress: [100, hourMs], perAccount: [[10, hourMs]] }),
  "sign-ins": () => ({
    perAddress: [200, quarterMs],
    perAccount: [[env().AUTH_SIGN_IN_LIMIT, quarterMs]],
  }),
  "changes of the account": () => ({ perAddress: [200, quarterMs], perAccount: [[30, quarterMs]] }),
  "mails asked for": () => ({ perAddress: [60, hourMs] }),
  "codes tried": () => ({ perAddress: [60, quarterMs] }),
  "links opened": () => ({ perAddress: [200, quarterMs] }),
  "sessions renewed": () => ({ perAddress: [2000, quarterMs] }),
  // Enough for a user who loses a mail, too few to guess the six digits or to flood the outbox.
  "mails to one address": () => ({
    perAccount: [[5, 10 * minuteMs]],
    code: "over_email_send_rate_limit",
  }),
  // Limits against guessing. Each counts over all factors and sessions of an account.
  "wrong passwords": () => ({
    perAccount: [[10, quarterMs]],
    says: (n) => `Too many wrong passwords. Try again in ${n} seconds, or reset the password.`,
  }),
  // Three of a million codes are valid at any time: at fifty tries a day, a guess succeeds once in 18 years.
  "wrong codes": () => ({
    perAccount: [
      [10, quarterMs],
      [50, 24 * hourMs],
    ],
    says: (n) => `Too many wrong codes. Try again in ${n} seconds, or use a recovery code.`,
  }),
  // A recovery code has 80 bits and cannot be guessed; this limit bounds the work of the database.
  "wrong recovery codes": () => ({
    perAccount: [[10, quarterMs]],
    code: "mfa_recovery_codes_locked",
    says: (n) => `Too many wrong recovery codes. Try again in ${n} seconds.`,
  }),
} satisfies Record<string, () => Limit>;

type Action = keyof typeof limits;
const limitOf = (action: Action): Limit => limits[action]();
const accountQuotas = (action: Action, account: string) =>
  (limitOf(action).perAccount ?? []).flatMap((rate) => accountQuota(account, ...rate));

/**
 * Counts an attempt before it is made. It counts whether or not the account exists, so that a limit reveals nothing.
 * @param address the caller's, where known
 * @param account the account it is about, by its address in lower case or its id, where the request names one
 * @throws AuthProtocolError over_request_rate_limit or the limit's own code, with an exact Retry-After
 */
export async function limitAttempts(
  action: Action,
  { address }: { address: string | null },
  account?: string,
): Promise<void> {
  const { perAddress } = limitOf(action);
  const ofAddress = perAddress ? addressQuota(address ?? undefined, ...perAddress) : [];
  await countAttempt(action, [
    ...ofAddress,
    ...(account === undefined ? [] : accountQuotas(action, account)),
  ]);
}

/** Counts a mail to an address before it is sent. @throws AuthProtocolError over_email_send_rate_limit */
export function countMail(email: string): Promise<void> {
  return limitAttempts("mails to one address", { address: null }, email);
}

/**
 * Counts a guess before it is checked: parallel guesses cannot bypass the limit, and a lock does not reveal whether there
 * is an account.
 * @returns a function that resets the count; call it after a right guess
 * @throws AuthProtocolError as `limitAttempts`
 */
export async function countGuess(action: Action, account: string): Promise<() => Promise<void>> {
  await limitAttempts(action, { address: null }, account);
  return () => forgetGuesses(action, account);
}

/** Resets the count of wrong guesses. @param account as for `countGuess` */
export async function forgetGuesses(action: Action, account: string): Promise<void> {
  await onSignInShare(() => forgetAttempts(action, accountQuotas(action, account)));
}

/** Counts an attempt against each quota. @throws AuthProtocolError with an exact Retry-After if one is full */
export async function countAttempt(action: Action, quotas: Quota[]): Promise<void> {
  try {
    await onSignInShare(() => throttle(action, quotas));
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "rate_limited") throw error;
    const seconds = Number(error.fields.retry_after_seconds);
    const { code = "over_request_rate_limit", says } = limitOf(action);
    const message = says?.(seconds) ?? `Too many ${action}. Try again in ${seconds} seconds.`;
    throw new AuthProtocolError(429, code, message, {}, error.headers);
  }
}
