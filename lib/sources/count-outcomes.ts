import { ExactNumber } from "@/lib/contract/values/exact-number";
import { toText } from "@/lib/decimal";
import { ServiceError, type Verdict } from "@/lib/errors";
import { countSourceRequest } from "@/lib/keys/sources/count-source-request";
import type { Recorded } from "@/lib/ledger/ingest/call";
import { reportFailure } from "@/lib/log";
import type { Refused } from "./decoded";
import type { SourceRecord } from "./mapping/source-record";
import { featureOf, projectOf } from "./mapping/source-settings";
import { allInput } from "./mapping/tokens";
import type { OutcomeCount, OutcomeCounts } from "./outcome-counts";
import type { Exporter } from "./record-calls";
import { packRecords } from "./refused-records";

/** A record and its outcome. */
export type Outcome = { record: SourceRecord; verdict: Verdict<Recorded> };

/** The most characters of a name in an example, and of a description. */
const maxNameLength = 128;
const maxDescriptionLength = 500;

/**
 * Counts the records of a request and their outcomes, for the page Sources. Never throws.
 * @param reported every call that the request reported, counted or not
 * @param options.unreadable the records that could not be read
 * @param options.account the outcomes of all records that report usage
 * @param options.keeps whether to store refused records, so that they can be sent again
 */
export function countOutcomes(
  { key, address }: Pick<Exporter, "key" | "address">,
  reported: SourceRecord[],
  outcomes: Outcome[],
  {
    unreadable = [],
    account = [],
    keeps = true,
  }: { unreadable?: Refused[]; account?: OutcomeCount[]; keeps?: boolean } = {},
): void {
  try {
    const arrivals = new Map<string, Arrivals>();
    const of = (emitter: string) => {
      const known = arrivals.get(emitter) ?? {
        emitter,
        told: 0,
        recorded: 0,
        repeated: 0,
        refused: 0,
        latest: null,
      };
      arrivals.set(emitter, known);
      return known;
    };
    for (const { emitter } of reported) of(emitter).told += 1;
    for (const { record, verdict } of outcomes) count(of(record.emitter), record, verdict);
    const refused = outcomes.filter(({ verdict }) => verdict instanceof ServiceError);
    const records = refused.map(({ record }) => record);
    const refusals = [
      ...byReason(refused).map(({ error, record, count }) => ({
        ...toRefusal(error, exampleOf(record, key)),
        count,
      })),
      // Unreadable records belong to no emitter's arrivals, like refusals of a whole request.
      ...unreadable.map(({ error, count }) => ({ ...toRefusal(error, {}), of_record: false, count })),
    ];
    if (arrivals.size + refusals.length + account.length === 0) return;
    countSourceRequest(key.id, {
      arrivals: [...arrivals.values()],
      refusals,
      account,
      ...(keeps && { kept: { address, ...packRecords(records) } }),
    });
  } catch (error) {
    reportFailure(error, "The counts of a source's records could not be stored.");
  }
}

/** Counts the refusal of a whole request. Never throws. @param keyId undefined if the key is not known */
export function countRefusal(keyId: string | undefined, error: unknown): void {
  if (keyId === undefined || !(error instanceof ServiceError) || error.status >= 500) return;
  countSourceRequest(keyId, { arrivals: [], refusals: [toRefusal(error)], account: [] });
}

/** Adds the outcome of a record to an account. @param verdict undefined for a total that added nothing */
export function addOutcome(
  account: OutcomeCounts,
  record: SourceRecord,
  verdict: Outcome["verdict"] | undefined,
): void {
  const { emitter } = record;
  if (verdict === undefined) account.add(emitter, "in_sum", "earlier_total");
  else if (verdict instanceof ServiceError) account.add(emitter, "refused", verdict.code);
  else if (!verdict.replayed) account.add(emitter, "recorded");
  else if (verdict.duplicate?.as === "call") account.add(emitter, "told_again", verdict.duplicate.by);
  else if (verdict.duplicate?.as === "calls") account.add(emitter, "repeats", "told_one_by_one");
  else account.add(emitter, "replayed");
}

type Arrivals = Parameters<typeof countSourceRequest>[1]["arrivals"][number];

function count(arrival: Arrivals, { provider, model }: SourceRecord, verdict: Verdict<Recorded>): void {
  if (verdict instanceof ServiceError) arrival.refused += 1;
  else if (verdict.replayed) arrival.repeated += 1;
  else {
    arrival.recorded += 1;
    const { id, amount_usd: amount, cost_status: status } = verdict.result;
    arrival.latest = {
      id,
      provider: storable(provider, maxNameLength),
      model: model === undefined ? null : storable(model, maxNameLength),
      amount: amount instanceof ExactNumber ? amount.text : String(amount),
      status,
    };
  }
}

/** Groups refusals by reason: the last record of each, and their number. An export may have thousands with one reason. */
function byReason(refused: readonly Outcome[]) {
  const reasons = new Map<string, { error: ServiceError; record: SourceRecord; count: number }>();
  for (const { record, verdict } of refused) {
    const error = verdict as ServiceError;
    const reason = `${error.code} ${budgetOf(error)} ${error.message}`;
    const count = (reasons.get(reason)?.count ?? 0) + 1;
    reasons.set(reason, { error, record, count });
  }
  return [...reasons.values()];
}

/** The id of the budget that refuses; undefined for other refusals. */
function budgetOf({ fields }: ServiceError): string | undefined {
  return (fields as { budget?: { id: string } }).budget?.id;
}

/** Codes whose refusals differ only in figures, so that they count as one reason. */
const alike = new Set(["monthly_limit_exceeded", "rate_limited", "key_expired"]);

/** @param example names from the record; omitted if there is no record */
function toRefusal(error: ServiceError, example: Record<string, string> | null = null) {
  const { code, message } = error;
  const description = storable(message, maxDescriptionLength);
  const subject = budgetOf(error) ?? (alike.has(code) ? "" : description);
  return { code, of_record: example !== null, subject, description, count: 1, example };
}

/** The names of a record, by which people find its origin. */
function exampleOf(record: SourceRecord, key: Exporter["key"]): Record<string, string> {
  const { emitter, service, provider, model, occurredAt, tokens } = record;
  const names = {
    emitter,
    service,
    project: projectOf(record, key),
    feature: featureOf(record, key),
    provider,
    model,
    input_tokens: toText(allInput(tokens)),
    output_tokens: tokens.output && toText(tokens.output),
    occurred_at: occurredAt,
  };
  return Object.fromEntries(
    Object.entries(names).flatMap(([name, value]) => {
      const text = storable(value ?? "", maxNameLength);
      return text === "" ? [] : [[name, text]];
    }),
  );
}

/** Makes text storable in Postgres as JSON: cut, without NUL and without lone surrogates. */
function storable(text: string, maxLength: number): string {
  return text.slice(0, maxLength).toWellFormed().replaceAll("\u0000", "");
}
