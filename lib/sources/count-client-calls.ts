import { ServiceError, type Verdict } from "@/lib/errors";
import { countSourceRequest } from "@/lib/keys/sources/count-source-request";
import { isProviderKey, type Recorded } from "@/lib/ledger/ingest/call";
import { OutcomeCounts } from "./outcome-counts";

/** The name of `@outlay/client` among the emitters. */
const emitter = "outlay-client";

/**
 * Counts the outcomes of messages that `@outlay/client` sent, for the page Sources.
 * @param keyId if undefined, nothing is counted
 * @param messages the messages as sent. If a conflict is about a key that is a provider's id, a program has reported the same call before
 */
export function countClientCalls(
  keyId: string | undefined,
  messages: readonly unknown[],
  verdicts: readonly Verdict<Recorded>[],
): void {
  if (keyId === undefined || verdicts.length === 0) return;
  const account = new OutcomeCounts();
  const counts = { told: verdicts.length, recorded: 0, repeated: 0, refused: 0 };
  for (const [index, verdict] of verdicts.entries()) {
    const [outcome, by, count] = outcomeOf(verdict, messages[index]);
    account.add(emitter, outcome, by);
    counts[count] += 1;
  }
  countSourceRequest(keyId, {
    arrivals: [{ emitter, ...counts, latest: null }],
    refusals: [],
    account: account.list(),
  });
}

function outcomeOf(verdict: Verdict<Recorded>, message: unknown) {
  if (!(verdict instanceof ServiceError))
    return verdict.replayed
      ? (["replayed", "", "repeated"] as const)
      : (["recorded", "", "recorded"] as const);
  const { idempotency_key: key } = (message ?? {}) as { idempotency_key?: unknown };
  const isReported = verdict.code === "idempotency_conflict" && typeof key === "string" && isProviderKey(key);
  return isReported
    ? (["told_again", "", "repeated"] as const)
    : (["refused", verdict.code, "refused"] as const);
}
