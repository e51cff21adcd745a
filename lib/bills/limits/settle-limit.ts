import type { Dollars } from "@/lib/bills/money";
import { askerOf } from "@/lib/bills/pulls/ask";
import { ProviderFailure, ProviderRefusal } from "@/lib/bills/pulls/provider";
import { providers } from "@/lib/bills/pulls/providers";
import { sealSubject } from "@/lib/bills/pulls/pull";
import { type LimitableProvider, limitingProviders } from "@/lib/contract/bills/limit-kinds";
import { compare, isZero, parseDecimal, roundTo, toText } from "@/lib/decimal";
import { reportFailure } from "@/lib/log";
import { retryDelayMs } from "@/lib/outside/backoff";
import type { OutsideNetwork } from "@/lib/outside/connect";
import { SealError, unseal } from "@/lib/seal";
import { type ClaimedLimit, type EndedLimit, finishLimit } from "./limit-queries";
import { type HeldLimit, type LimitPlace, TargetGone } from "./limiter";
import { limiters } from "./limiters";

/** How long a claim lasts, seconds: longer than all requests of a run together may take. */
export const leaseSeconds = 600;
const daySeconds = 86_400;

/** A limit as a provider takes it: whole cents or dollars. What is less is cut off, so that it never lets more through. */
export const asTaken = (provider: LimitableProvider, usd: string): Dollars =>
  roundTo(parseDecimal(usd), limitingProviders[provider].unit === "cent" ? 2 : 0, "down") as Dollars;

/**
 * Brings a limit at a provider in line with its budget: writes it if it was never written, if the budget's limit has changed since,
 * or if that was asked for, and reads it back. A limit that someone else has changed there is left and recorded as drift. Never throws:
 * how it ended is recorded. Repeating it does no harm.
 */
export async function settleLimit(
  claimed: ClaimedLimit,
  options: { signal: AbortSignal; network?: OutsideNetwork },
): Promise<void> {
  try {
    const seen: Seen = {};
    const ended = await attempt(claimed, seen, options).catch((error: unknown) =>
      endOf(error, claimed, options.signal),
    );
    await finishLimit(claimed, { ...seen, ...ended });
  } catch (error) {
    reportFailure(error, "How writing a limit at a provider ended was not recorded; it will be repeated.");
  }
}

/** What a run has read of the provider, also if it fails later. */
type Seen = Pick<EndedLimit, "name" | "held">;

async function attempt(
  claimed: ClaimedLimit,
  seen: Seen,
  options: { signal: AbortSignal; network?: OutsideNetwork },
): Promise<EndedLimit> {
  const id = claimed.provider as LimitableProvider;
  const [provider, limiter] = [providers[id], limiters[id]];
  if (!provider || !limiter)
    throw new ProviderFailure("This version of the service does not know the provider.");
  if (claimed.sealed === null) throw new ProviderFailure("The provider account has no key.");
  const { secret } = unseal(claimed.sealed, sealSubject(claimed.workspace_id, claimed.account_id));
  const ask = askerOf(id, provider, { key: secret, ...options });
  const { kind, target, period, account } = claimed;
  const place: LimitPlace = { kind, id: target, period, account };
  if (claimed.is_removing) {
    const present = await limiter.read(ask, place);
    if (present.usd !== null) await limiter.remove(ask, place);
    return { outcome: "removed", retry_in_seconds: 0 };
  }
  if (claimed.limit_usd === null) throw new ProviderFailure("Its budget was deleted.");
  const wanted = asTaken(id, claimed.limit_usd);
  if (isZero(wanted))
    throw new ProviderRefusal(
      0,
      `The budget's limit of $${claimed.limit_usd} is less than the least that can be set there, one ${limitingProviders[id].unit}. Nothing was written.`,
    );
  const isEqual = ({ usd, period: of, stops }: HeldLimit) =>
    usd !== null && compare(usd, wanted) === 0 && of === period && stops;
  const read = async () => {
    const found = await limiter.read(ask, place);
    seen.name = found.name;
    seen.held = { usd: found.usd && toText(found.usd), period: found.period, stops: found.stops };
    return found;
  };
  let held = await read();
  let wrote = false;
  const known = claimed.written_usd === null ? null : parseDecimal(claimed.written_usd);
  if (!isEqual(held) && (claimed.writes || known === null || compare(known, wanted) !== 0)) {
    await limiter.write(ask, place, wanted);
    wrote = true;
    held = await read();
    if (!isEqual(held))
      throw new ProviderFailure(
        `It took $${toText(wanted)}, and still answers ${held.usd === null ? "no limit" : `$${toText(held.usd)}`}.`,
      );
  }
  return {
    outcome: isEqual(held) ? "equal" : "drift",
    ...(isEqual(held) && { written_usd: toText(wanted), wrote }),
    retry_in_seconds: daySeconds,
  };
}

/** How a run ended that threw. */
function endOf(error: unknown, { attempts, is_removing }: ClaimedLimit, signal: AbortSignal): EndedLimit {
  if (signal.aborted) return { outcome: "interrupted", retry_in_seconds: 0 };
  if (error instanceof TargetGone)
    return is_removing
      ? { outcome: "removed", retry_in_seconds: 0 }
      : { outcome: "gone", problem: error.message, retry_in_seconds: daySeconds };
  if (error instanceof ProviderRefusal)
    return { outcome: "refused", problem: error.message, retry_in_seconds: daySeconds };
  const isKnown = error instanceof ProviderFailure || error instanceof SealError;
  if (!isKnown) reportFailure(error, "Writing a limit at a provider failed; it will be tried again.");
  const waitMs = Math.max(
    retryDelayMs(attempts + 1),
    (error instanceof ProviderFailure && error.retryAfterMs) || 0,
  );
  return {
    outcome: "failed",
    problem: isKnown ? error.message : "The service could not store how it ended. It tries again.",
    retry_in_seconds: Math.ceil(waitMs / 1000),
  };
}
