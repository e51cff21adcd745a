import { challenge } from "@/lib/access/credentials";
import type { Permission } from "@/lib/contract/access/permissions";
import type { MessageSource } from "@/lib/contract/ledger/message";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { add, compare, type Decimal, toText, zero } from "@/lib/decimal";
import { ServiceError, type Verdict } from "@/lib/errors";
import { serviceAddress } from "@/lib/service-address";
import type { ApiKey, KeyUsage } from "./api-key";
import { heldFields, heldText } from "./blocking-budgets";
import { allowsAddress, allowsFeature, allowsProject, allowsSource, allowsUser } from "./conditions";

/** The rolling window of a rate limit in milliseconds. */
export const rateWindowMs = 60_000;

/** The requirements of a message or a read that the guard decides. */
export type Attempt = {
  /** All of them are required; the refusal names the first that is missing. */
  permissions: readonly Permission[];
  source?: MessageSource;
  /** Slugs of all projects of the request. */
  projects?: string[];
  /** The feature of each usage line; undefined for a line without one. */
  features?: (string | undefined)[];
  /** The user of each usage line; undefined for a line or message without one. */
  users?: (string | undefined)[];
  /** The conflict of an idempotency key that was used for another message. */
  conflict?: ServiceError;
};

/** A key's rate limit per minute, what remains of it, and milliseconds until more is available. */
export type RateStatus = { limit: number; remaining: number; resetMs: number };

/** The decision about a call, and the state of the key's rate after it; null for a key without a rate limit. */
export type Counted<T> = { outcome: Verdict<T>; rate: RateStatus | null };

/**
 * Decides whether a key may be used by this caller now. Checks revocation, expiry, address, whether the workspace was
 * deleted, and rate, in this order. An admitted request counts against the rate, whatever its outcome; a refused one does not.
 *
 * `decideCall`, `decideAttempt` and `decideCost`, called in this order, are the only place where permissions and
 * conditions are decided: for reads over REST, ingest and MCP. All are pure functions.
 *
 * @param address undefined if it is unknown
 * @param now the database's time in milliseconds since 1970
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
 * Decides whether an admitted caller may do something. Checks permission, source, project, feature, user and idempotency, in
 * this order. Null if it may; `decideCost` then decides about the cost of a message.
 */
export function decideAttempt(key: ApiKey, attempt: Attempt): Verdict<null> {
  return checkConditions(key, attempt) ?? attempt.conflict ?? null;
}

/**
 * Decides whether a key may record a cost. The spend may reach the monthly limit but not exceed it. A key that has reached the limit
 * records nothing more, not even at a cost of 0, because usage without a price may be priced later. A limit with `onLimit` `record`
 * refuses nothing. Do not call it for reads and replays, to which the limit does not apply.
 * @param spent USD that the key has recorded in this UTC month
 * @param cost USD
 * @param now the database's time in milliseconds since 1970
 * @param held USD that other reservations of the key hold. It does not count against a cost of 0 or less
 */
export function decideCost(
  key: ApiKey,
  spent: Decimal,
  cost: Decimal,
  now: number,
  held: Decimal = zero,
): Verdict<null> {
  const { monthlyLimit } = key;
  if (monthlyLimit === null || key.onLimit === "record") return null;
  const isUsedUp = compare(spent, monthlyLimit) >= 0;
  const after = add(spent, compare(cost, zero) > 0 ? add(cost, held) : cost);
  if (!isUsedUp && compare(after, monthlyLimit) <= 0) return null;
  const limit = toText(monthlyLimit);
  const what = isUsedUp
    ? `The API key's monthly limit is used up: $${limit}, of which $${toText(spent)} is spent${heldText(held)}.`
    : `This would take the API key past its monthly limit: $${limit}, of which $${toText(spent)} is spent${heldText(held)}.`;
  return new ServiceError("monthly_limit_exceeded", `${what} The limit resets on ${nextMonth(now)}.`, {
    limit_usd: new ExactNumber(limit),
    spent_usd: new ExactNumber(toText(spent)),
    ...heldFields(monthlyLimit, spent, held),
    resets_at: `${nextMonth(now)}T00:00:00Z`,
    how_to_ask: {
      page: `${serviceAddress()}/workspaces/ask?key=${key.id}`,
      // The limit of a connected program is set by the person who connected it.
      ...(key.kind === "key" && {
        api: "POST /api/v1/budget-requests",
        tool: "request_budget",
        key_id: key.id,
      }),
    },
  });
}

/**
 * Like `decideCall`, without the rate. For a call whose request was admitted and counted already: a key that was revoked meanwhile
 * records nothing.
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
  if (!allowsAddress(key, address)) {
    const from = address ?? "an address that cannot be known";
    return new ServiceError("ip_not_allowed", `This API key may not be used from ${from}.`);
  }
  if (!key.workspaceDeleted) return null;
  return new ServiceError(
    "workspace_deleted",
    `The workspace of this ${key.kind === "connection" ? "connection" : "API key"} was deleted. Its owner can undo that in the dashboard, for thirty days after the deletion.`,
  );
}

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
    return new ServiceError("project_not_allowed", `This API key may not use the project ${project}.`, {
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
  if (attempt.users?.some((user) => !allowsUser(key, user))) {
    // Does not list the allowed users, because the holder of the key need not know them.
    return new ServiceError(
      "user_not_allowed",
      attempt.users.some((user) => user === undefined)
        ? "This API key may record only usage of certain users, and this names none."
        : "This API key may not record for this user.",
    );
  }
  return null;
}

/** The first day of the next UTC month, `YYYY-MM-DD`. */
function nextMonth(now: number): string {
  const date = new Date(now);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)).toISOString().slice(0, 10);
}
