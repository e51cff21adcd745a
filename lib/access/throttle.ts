import { createHash } from "node:crypto";
import ipaddr from "ipaddr.js";
import { callAsService } from "@/lib/db/transaction";
import { ServiceError } from "@/lib/errors";

/** How often one subject may act: `limit` times in any `windowMs`. */
export type Quota = { subject: string; limit: number; windowMs: number };

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;

/** A quota of an account. @param who its id, or its mail address in lower case */
export function accountQuota(who: string, limit: number, windowMs: number): Quota[] {
  return [{ subject: `account ${who}`, limit, windowMs }];
}

/**
 * A quota of a request's address. An IPv6 network (/64) belongs to one subscriber and counts as one subject.
 *
 * Unknown addresses and this machine's own have no quota: until TRUSTED_PROXIES names a proxy on this machine, all its
 * callers have this machine's address, and one of them could use up the quota of all. Quotas of accounts still apply.
 */
export function addressQuota(address: string | undefined, limit: number, windowMs: number): Quota[] {
  if (address === undefined || !ipaddr.isValid(address)) return [];
  const parsed = ipaddr.process(address);
  if (parsed.range() === "loopback") return [];
  const network = parsed.kind() === "ipv6" ? parsed.toByteArray().slice(0, 8).join(".") : parsed.toString();
  return [{ subject: `address ${network}`, limit, windowMs }];
}

/**
 * Counts one attempt against each quota, over all processes, before it is made. A refused attempt counts against none.
 * Call it before the transaction that it protects: it runs its own transaction, so that failed attempts count too.
 * @param action what is counted, in the plural; it identifies the counts and is part of the error text ("new API keys")
 * @throws ServiceError rate_limited with `limit`, `retry_after_seconds` and an exact Retry-After
 */
export async function throttle(action: string, quotas: Quota[]): Promise<void> {
  await ask("admit_attempt", action, quotas);
}

/**
 * Calls `run` and counts a failure against each quota. Successes are not counted. A caller whose failures fill a quota
 * is refused before `run`. Concurrent attempts may each exceed the limit once, which is harmless for long secrets.
 * @param action what is counted, in the plural, as for `throttle`
 * @param isGuess whether an error of `run` is a failure that counts
 * @throws ServiceError rate_limited as `throttle`; the errors of `run`
 */
export async function throttleFailures<T>(
  action: string,
  quotas: Quota[],
  isGuess: (error: unknown) => boolean,
  run: () => Promise<T>,
): Promise<T> {
  await ask("full_quota", action, quotas);
  try {
    return await run();
  } catch (error) {
    if (isGuess(error)) await ask("admit_attempt", action, quotas);
    throw error;
  }
}

/** Resets the counts of these quotas, after the caller proved its identity. @param action as for `throttle` */
export async function forgetAttempts(action: string, quotas: Quota[]): Promise<void> {
  await callAsService("private.forget_attempts", asArgument(action, quotas));
}

/** @throws ServiceError rate_limited if a quota is full */
async function ask(question: "admit_attempt" | "full_quota", action: string, quotas: Quota[]): Promise<void> {
  if (quotas.length === 0) return;
  const refusal = await callAsService<FullQuota | null>(`private.${question}`, asArgument(action, quotas));
  if (refusal) throw tooMany(action, refusal);
}

/** Encodes quotas for the functions of the database. The subject becomes a SHA-256 in hex. */
function asArgument(action: string, quotas: Quota[]): string {
  const asked = quotas.map(({ subject, limit, windowMs }) => ({
    subject: createHash("sha256").update(`${action}\n${windowMs}\n${subject}`).digest("hex"),
    limit,
    window_ms: windowMs,
  }));
  return JSON.stringify(asked);
}

/** The full quota that `private.admit_attempt` reports; `wait_ms`: milliseconds until the next attempt is allowed. */
export type FullQuota = { limit: number; window_ms: number; wait_ms: number };

/** The refusal of an attempt that a function of the database counted. @param action as for `throttle` */
export function tooMany(
  action: string,
  { limit, window_ms: windowMs, wait_ms: waitMs }: FullQuota,
): ServiceError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const window = windowMs === hourMs ? "hour" : `${windowMs / minuteMs} minutes`;
  return new ServiceError(
    "rate_limited",
    `Too many ${action}: ${limit} are allowed in any ${window}. Try again in ${seconds} s.`,
    { limit, retry_after_seconds: seconds },
    { "Retry-After": String(seconds) },
  );
}
