import { type Decimal, parseDecimal, sum, toText } from "@/lib/decimal";
import type { LoadedKey } from "@/lib/keys/admission-queries";
import { combineStatuses } from "@/lib/ledger/pricing/cost-status";
import type { Relation } from "@/lib/ledger/telemetry/same-call";
import { type CallKeys, type Duplicate, isProviderKey, type Submission } from "./call";
import type { Draft } from "./draft";
import { namesOf, rememberedRequest } from "./idempotency";
import { listPriceOf } from "./ingest-result";
import type { LedgerRow } from "./ledger";

/**
 * The earlier answer to a request; undefined if it is new. `known`: the key of the report that was found. `meant`: set for a client's
 * idempotency key, the present request in stored form, to be compared with the earlier one. Records of one call may differ.
 */
export function earlierAnswer({ key }: LoadedKey, request: Submission, draft: Draft) {
  const answerTo = (known: string) => draft.answerTo(key.workspaceId, key.environment, known);
  const { idempotency_key: sent, callKeys } = request;
  for (const known of callKeys ? namesOf(callKeys) : []) {
    const reported = answerTo(known);
    if (reported) return { ...reported, known, meant: undefined };
  }
  const earlier = sent === undefined ? undefined : answerTo(sent);
  return earlier && { ...earlier, known: undefined, meant: rememberedRequest(request, key.environment) };
}

/**
 * How a report was recognised as recorded before; with its relation to the recorded report, if that is another one of the same call.
 * @param known its first key that was found
 * @param isKnown whether a key is stored
 */
export function duplicateOf(
  callKeys: CallKeys,
  known: string | undefined,
  isKnown: (name: string) => boolean,
): { duplicate: Duplicate; relation?: Relation } | undefined {
  if (known === undefined) return undefined;
  if (callKeys.sumOf?.includes(known)) return { duplicate: { as: "calls" } };
  if (callKeys.own.some((name) => !isProviderKey(name) && isKnown(name)))
    return { duplicate: { as: "record" } };
  const relation = callKeys.outer.some(isKnown)
    ? "inside"
    : callKeys.inner.some(isKnown)
      ? "around"
      : "beside";
  return { duplicate: { as: "call" }, relation };
}

/** The sum of a message's postings, USD. */
export function costOf(postings: readonly LedgerRow[]): Decimal {
  return sum(postings.map(({ amount_usd: amount }) => parseDecimal(amount)));
}

/** The answer to another report of a recorded call, in stored form. */
export function answerOf(postings: readonly [LedgerRow, ...LedgerRow[]]): Record<string, unknown> {
  const [{ id, project_id, created_at }] = postings;
  return {
    id,
    amount_usd: toText(costOf(postings)),
    project_id,
    created_at: new Date(created_at).toISOString(),
    cost_status: combineStatuses(postings.map((posting) => posting.cost_status)),
    list_price_usd: listPriceOf(postings),
  };
}
