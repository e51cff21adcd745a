import type { DeliveryResult } from "@/lib/contract/sources/delivery";
import { ServiceError } from "@/lib/errors";
import { toBulkResult } from "@/lib/ledger/ingest/bulk-result";
import { addOutcome, countOutcomes } from "@/lib/sources/count-outcomes";
import { type Decoded, isRecord, type Refused } from "@/lib/sources/decoded";
import { OutcomeCounts, unreadEmitter } from "@/lib/sources/outcome-counts";
import { type Exporter, recordCalls } from "@/lib/sources/record-calls";

/** One verdict for all records that were refused for the same reason. */
function nameCount({ error: { code, message, fields }, count }: Refused): ServiceError {
  return new ServiceError(code, count === 1 ? message : `${message} (${count} times)`, fields);
}

/**
 * Records the calls of a delivery, each decided separately, and returns a verdict for each in order. Permanent refusals are verdicts and
 * not errors, so that the gateway does not send the delivery again.
 * @throws ServiceError validation_failed if no item can be read; as `recordCalls`
 */
export async function recordDelivery(exporter: Exporter, decoded: Decoded): Promise<DeliveryResult> {
  const items = [...decoded.items, ...decoded.refused.map(nameCount)];
  const [first] = items;
  if (first instanceof ServiceError && items.every((item) => item instanceof ServiceError)) throw first;
  const calls = items.filter(isRecord);
  const verdicts = await recordCalls(exporter, calls);
  const ofCall = new Map(calls.map((call, index) => [call, verdicts[index]]));
  const outcomes = calls.flatMap((record, index) => {
    const verdict = verdicts[index];
    return verdict ? [{ record, verdict }] : [];
  });
  const account = new OutcomeCounts();
  for (const { record, verdict } of outcomes) addOutcome(account, record, verdict);
  const unreadable = decoded.items.filter((item) => item instanceof ServiceError);
  for (const error of unreadable) account.add(unreadEmitter, "refused", error.code);
  for (const item of items) if (item === "no usage") account.add(unreadEmitter, "without_counts");
  countOutcomes(exporter, calls, outcomes, {
    unreadable: [...unreadable.map((error) => ({ error, count: 1 })), ...decoded.refused],
    account: [...decoded.leftOut, ...account.list()],
  });
  const results = items.flatMap((item, index): DeliveryResult["results"] => {
    if (item === "no usage")
      return [{ index, status: 200, ignored: "The record reports no usage of this call." }];
    const verdict = item instanceof ServiceError ? item : ofCall.get(item);
    return toBulkResult(verdict ? [verdict] : []).results.map((result) => ({ ...result, index }));
  });
  const recorded = results.filter(({ status }) => status === 201).length;
  const ignored = results.filter(({ status }) => status === 200).length;
  return { recorded, refused: results.length - recorded - ignored, ignored, results };
}
