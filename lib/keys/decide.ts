import { ExactNumber } from "@/lib/contract/exact-number";
import type { Source } from "@/lib/contract/message";
import type { Permission } from "@/lib/contract/permissions";
import { ServiceError, type Verdict } from "@/lib/errors";
import { add, compare, type Decimal, toText } from "@/lib/ledger/pricing/decimal";
import type { ApiKey, KeyUsage } from "./api-key";
import { allowsAddress, allowsFeature, allowsProject, allowsSource } from "./conditions";

/** The rolling window of a rate limit, milliseconds. */
export const rateWindowMs = 60_000;

/** What one message or one read would do, as far as the guard needs to know it. */
export type Attempt = {
  /** All of them are needed; the first that is missing is named. */
  permissions: readonly Permission[];
  source?: Source;
  /** Slugs of every project the request touches. */
  projects?: string[];
  /** The feature of each line of usage; undefined for a line without one. */
  features?: (string | undefined)[];
  /** The conflict of an idempotency key that was used for something else. */
  conflict?: ServiceError;
};

/** What a rate-limited key's caller is told: the limit a minute, what is left of it, and ms until more is. */
export type RateStatus = { limit: number; remaining: number; resetMs: number };

/** What was decided about a call, and how the rate stands that it was counted against; null where its key has none. */
export type Counted<T> = { outcome: Verdict<T>; rate: RateStatus | null };

/**
 * Whether a key may be used at all, by this caller, now: revoked, expired, address, rate, in this order (design
 * section 4). A request admitted here has used one of the key's rate, whatever becomes of it; one refused has not.
 *
 * With `decideAttempt` and `decideCost`, asked in this order, the one place where permissions and conditions are
 * decided, for REST reads, ingest and MCP alike. All are pure: the same key, usage and time give the same answer.
 *
 * @param address undefined where it cannot be known
 * @param now milliseconds since 1970, by the database's clock
 */
export function decideCall(
  key: ApiKey,
  usage: KeyUsage,
  address: string | undefined,
  now: number,
): { refusal: Verdict<null>; rate: RateStatus | null } {
  const refusal = decideKey(key, address, now);
  return refusal ? { refusal, rate: null } : checkRate(key, usage, now);
}

/**
 * Whether an admitted caller may do this: permission, source, project, feature, idempotency, in this order. Null where
 * it may; what it would record is then for `decideCost` to decide.
 */
export function decideAttempt(key: ApiKey, attempt: Attempt): Verdict<null> {
  return checkConditions(key, attempt) ?? attempt.conflict ?? null;
}

/**
 * Whether a key may record this cost: its monthly limit, which may be reached and never passed. Once it is reached the
 * key records nothing more, not even what costs nothing yet: usage without a price may get one. Not asked for reads and
 * replays, which no limit concerns.
 * @param spent what the key has recorded this UTC month, USD
 * @param cost USD
 * @param now milliseconds since 1970, by the database's clock
 */
export function decideCost(key: ApiKey, spent: Decimal, cost: Decimal, now: number): Verdict<null> {
  const { monthlyLimit } = key;
  if (monthlyLimit === null) return null;
  const isUsedUp = compare(spent, monthlyLimit) >= 0;
  if (!isUsedUp && compare(add(spent, cost), monthlyLimit) <= 0) return null;
  const limit = toText(monthlyLimit);
  const what = isUsedUp
    ? `The API key's monthly limit is used up: $${limit}, of which $${toText(spent)} is spent.`
    : `This would take the API key past its monthly limit: $${limit}, of which $${toText(spent)} is spent.`;
  return new ServiceError("monthly_limit_exceeded", `${what} The limit starts anew on ${nextMonth(now)}.`, {
    limit_usd: new ExactNumber(limit),
    spent_usd: new ExactNumber(toText(spent)),
    resets_at: `${nextMonth(now)}T00:00:00Z`,
  });
}

/**
 * What `decideCall` decides but for the rate: asked again of a call whose request was admitted and counted a moment ago,
 * so that a key that was revoked meanwhile records nothing.
 */
export function decideKey(key: ApiKey, address: string | undefined, now: number): Verdict<null> {
  if (key.revoked)
    return new ServiceError(
      "key_revoked",
      "This API key was revoked. Make a new one in the dashboard.",
      {},
      challenge,
    );
  if (key.expiresAt !== null && now >= key.expiresAt) {
    const when = new Date(key.expiresAt).toISOString();
    return new ServiceError(
      "key_expired",
      `This API key expired at ${when}. Extend it or make a new one.`,
      {},
      challenge,
    );
  }
  if (allowsAddress(key, address)) return null;
  const from = address ?? "an address that cannot be known";
  return new ServiceError("ip_not_allowed", `This API key may not be used from ${from}.`);
}

/** The `WWW-Authenticate` of every 401. */
export const challenge = { "WWW-Authenticate": 'Bearer realm="outlay"' };

function checkRate(
  key: ApiKey,
  { window }: KeyUsage,
  now: number,
): { refusal: Verdict<null>; rate: RateStatus | null } {
  const limit = key.rateLimitRpm;
  if (limit === null) return { refusal: null, rate: null };
  const resetMs = Math.max(0, (window.freesAt ?? now + rateWindowMs) - now);
  if (window.used < limit)
    return { refusal: null, rate: { limit, remaining: limit - window.used - 1, resetMs } };
  const seconds = Math.max(1, Math.ceil(resetMs / 1000));
  const refusal = new ServiceError(
    "rate_limited",
    `This API key may make ${limit} requests in any 60 seconds. Try again in ${seconds} s.`,
    { limit_rpm: limit, retry_after_seconds: seconds },
    { "Retry-After": String(seconds) },
  );
  return { refusal, rate: { limit, remaining: 0, resetMs } };
}

function checkConditions(key: ApiKey, attempt: Attempt): Verdict<null> {
  const missing = attempt.permissions.find((permission) => !key.permissions.includes(permission));
  if (missing !== undefined) {
    return new ServiceError("permission_denied", `This API key lacks the permission ${missing}.`, {
      permission: missing,
    });
  }
  if (attempt.source !== undefined && !allowsSource(key, attempt.source)) {
    return new ServiceError(
      "source_not_allowed",
      `This API key may not record with the source ${attempt.source}.`,
      {
        allowed_sources: key.conditions.sources,
      },
    );
  }
  const project = attempt.projects?.find((slug) => !allowsProject(key, slug));
  if (project !== undefined) {
    return new ServiceError("project_not_allowed", `This API key may not touch the project ${project}.`, {
      project,
    });
  }
  const stray = attempt.features?.findIndex((name) => !allowsFeature(key, name)) ?? -1;
  if (stray >= 0) {
    const feature = attempt.features?.[stray];
    const what = feature === undefined ? "usage without a feature" : `usage of the feature ${feature}`;
    return new ServiceError("feature_not_allowed", `This API key may not record ${what}.`, {
      allowed_features: key.conditions.features,
    });
  }
  return null;
}

/** The first day of the next UTC month, as a date. */
function nextMonth(now: number): string {
  const date = new Date(now);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)).toISOString().slice(0, 10);
}
