import { ServiceError } from "@/lib/errors";
import type { StoredSource } from "@/lib/keys/api-key";
import { type CallKeys, isProviderKey } from "@/lib/ledger/ingest/call";
import { isMoreDetailed, joinSameCalls } from "@/lib/ledger/telemetry/same-call";
import type { TreeSpan } from "@/lib/ledger/telemetry/span-tree";
import { Refusals, type Refused } from "@/lib/sources/decoded";
import { inferenceSpan } from "@/lib/sources/emitters/conventions";
import type { Attribution, Emitter } from "@/lib/sources/emitters/emitter";
import type { Entry } from "@/lib/sources/otlp/entry";
import type { ReadExport } from "@/lib/sources/otlp/read-export";
import { lossesIn, type OutcomeCount, OutcomeCounts, unreadEmitter } from "@/lib/sources/outcome-counts";
import { callReportOf, rankOf } from "./call-report";
import { leftOutReason } from "./left-out";
import { inherit, type Read, withoutOuter } from "./outer-spans";
import { readRecord } from "./read-record";
import { findEmitter, findRemedy, findRule } from "./recognise";
import type { SourceRecord } from "./source-record";
import { placeOf } from "./span-names";

/**
 * A mapped export. `records`: its calls, each once. `remarks`: for whoever runs the emitter. `refused`: the records that cannot be read.
 * `leftOut`: the outcomes of the other records that report usage.
 */
export type Mapped = {
  records: SourceRecord[];
  /** The spans that report no call. */
  spans: TreeSpan[];
  remarks: string[];
  refused: Refused[];
  leftOut: OutcomeCount[];
};

/**
 * Reads the records of an export that are calls, each call once. Pure.
 * @param settings of the source
 * @param emitterOf finds the emitter of a record
 */
export function mapExport(
  { entries, refused: unread }: ReadExport,
  settings: StoredSource | null = null,
  emitterOf = findEmitter,
): Mapped {
  const remarks = new Set<string>();
  const read: Read[] = [];
  const refused = new Refusals();
  const leftOut = new OutcomeCounts();
  const countless: { entry: Entry; emitter: string }[] = [];
  for (const { error, count } of unread) {
    refused.add(error, count);
    leftOut.add(unreadEmitter, "refused", error.code, count);
  }
  for (const entry of entries) {
    const emitter = emitterOf(entry);
    const rule = findRule(emitter, entry);
    try {
      const record = rule && readRecord(emitter, rule, entry, settings);
      if (record) read.push({ entry, record, attribution: rule.attribution });
      else {
        const why = leftOutReason(emitter, rule, entry);
        if (why?.outcome === "without_counts") countless.push({ entry, emitter: emitter.name });
        else if (why) leftOut.add(emitter.name, why.outcome, why.by);
      }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      refused.add(error);
      leftOut.add(emitter.name, "refused", error.code);
    }
    const remedy = findRemedy(emitter, entry);
    if (remedy) remarks.add(remedy);
  }
  const attributionOfEntry = (entry: Entry) => attributionOf(emitterOf(entry));
  const { records: inner, isOuter } = withoutOuter(read, entries, attributionOfEntry);
  // A span without counts that encloses calls is not a call itself.
  for (const { entry, emitter } of countless) if (!isOuter(entry)) leftOut.add(emitter, "without_counts");
  const counted = new Set(inner);
  for (const { record } of read)
    if (!counted.has(record)) leftOut.add(record.emitter, "repeats", "contains_calls");
  addCallReports(read, counted, settings);
  const ofCalls = new Set(read.flatMap(({ entry, record }) => (counted.has(record) ? [entry] : [])));
  const spans = spansAround(entries, ofCalls, (entry) => placeOf(entry, attributionOfEntry(entry), settings));
  const records = joinSameCalls(
    mergeSameCall(inner, leftOut),
    ({ keys }) => keys.reports ?? [],
    (one, other) => joinReports(one, other, leftOut),
  );
  const unknown = new Map<string, number>();
  for (const { isKnownEmitter, scope, service } of records) {
    if (isKnownEmitter) continue;
    const name = `the scope ${JSON.stringify(scope)} of the service ${JSON.stringify(service)}`;
    unknown.set(name, (unknown.get(name) ?? 0) + 1);
  }
  for (const [name, count] of unknown)
    remarks.add(`Counted by the GenAI conventions, because ${name} is no known emitter: ${count}.`);
  const unnamed = new Map<string, number>();
  for (const what of records.flatMap((record) => record.leftOut)) {
    unnamed.set(what, (unnamed.get(what) ?? 0) + 1);
  }
  for (const [what, count] of unnamed) remarks.add(`Recorded ${count} without ${what}.`);
  const account = leftOut.list();
  return {
    records,
    spans,
    remarks: [...remarks, ...lossesIn(account)],
    refused: refused.list(),
    leftOut: account,
  };
}

/** Sets the reports of the counted records, by which records without a common id are compared. Needs their complete names. */
function addCallReports(
  read: readonly Read[],
  counted: ReadonlySet<SourceRecord>,
  settings: StoredSource | null,
): void {
  for (const { entry, record, attribution } of read) {
    if (!counted.has(record)) continue;
    const report = callReportOf(entry, record);
    if (report) record.keys.reports = [Object.assign(report, placeOf(entry, attribution, settings, record))];
  }
}

/** The most spans without a call that are stored of an export, those with names first. */
const maxSpans = 2_000;

function spansAround(
  entries: readonly Entry[],
  ofCalls: ReadonlySet<Entry>,
  place: (entry: Entry) => TreeSpan | undefined,
): TreeSpan[] {
  const spans = entries.flatMap((entry) => (ofCalls.has(entry) ? [] : (place(entry) ?? [])));
  if (spans.length <= maxSpans) return spans;
  const isNamed = ({ names }: TreeSpan) => Number(names !== null);
  return spans.sort((one, other) => isNamed(other) - isNamed(one)).slice(0, maxSpans);
}

/** The attributes in which the spans of an emitter have their names. They are the same in each of its rules. */
function attributionOf({ rules }: Emitter): Attribution {
  const { attribution } = rules.find(({ signal }) => signal === "traces") ?? rules[0] ?? inferenceSpan;
  return attribution;
}

/** A call. `keys`: those of all its records, if there are several. */
type Call = {
  best: SourceRecord;
  keys?: { [Name in Exclude<keyof CallKeys, "sumOf">]-?: Set<NonNullable<CallKeys[Name]>[number]> };
};

/** Joins the records of one call that share an id: keeps the most detailed one, with the keys of all. */
function mergeSameCall(records: SourceRecord[], leftOut: OutcomeCounts): SourceRecord[] {
  const calls = new Map<string, Call>();
  const lesser = new Set<SourceRecord>();
  const joined = new Set<Call>();
  for (const record of records) {
    const known = record.keys.own.map((key) => calls.get(key)).find((call) => call !== undefined);
    const call = known ?? { best: record };
    const isRepeated = record.keys.own.some((key) => !isProviderKey(key) && calls.has(key));
    for (const key of record.keys.own) calls.set(key, call);
    if (!known) continue;
    joined.add(call);
    // Sets, because all records of an export may belong to one call.
    call.keys ??= {
      own: new Set(),
      outer: new Set(),
      inner: new Set(),
      within: new Set(),
      reports: new Set(),
    };
    for (const { keys } of [call.best, record]) {
      for (const key of keys.own) call.keys.own.add(key);
      for (const key of keys.outer) call.keys.outer.add(key);
      for (const key of keys.inner) call.keys.inner.add(key);
      for (const around of keys.within) call.keys.within.add(around);
      for (const report of keys.reports ?? []) call.keys.reports.add(report);
    }
    const isBetter = isMoreDetailed([detailOf(record)], [detailOf(call.best)]);
    const [best, other] = isBetter ? [record, call.best] : [call.best, record];
    complete(best, other);
    lesser.add(other);
    if (isRepeated) leftOut.add(other.emitter, "replayed");
    else leftOut.add(other.emitter, "told_again", best.emitter);
    call.best = best;
  }
  for (const { best, keys } of joined) {
    if (keys)
      best.keys = {
        own: [...keys.own],
        outer: [...keys.outer],
        inner: [...keys.inner],
        within: [...keys.within],
        // Few libraries report one call.
        reports: [...keys.reports].slice(0, maxReports),
      };
  }
  return records.filter((record) => !lesser.has(record));
}

/** The most reports of a call that are kept for comparison. */
const maxReports = 8;

/** Joins two records of one call that share no id: keeps the more detailed one, with the names and keys of both. */
function joinReports(one: SourceRecord, other: SourceRecord, leftOut: OutcomeCounts): SourceRecord {
  const isBetter = isMoreDetailed(other.keys.reports ?? [], one.keys.reports ?? []);
  const [best, rest] = isBetter ? [other, one] : [one, other];
  complete(best, rest);
  leftOut.add(rest.emitter, "told_again", best.emitter);
  best.keys = {
    own: [...best.keys.own, ...rest.keys.own],
    outer: [...best.keys.outer, ...rest.keys.outer],
    inner: [...best.keys.inner, ...rest.keys.inner],
    within: [...best.keys.within, ...rest.keys.within],
    reports: [...(best.keys.reports ?? []), ...(rest.keys.reports ?? [])],
  };
  return best;
}

/** Adds the names, tier and cost that only another record of the same call has. */
function complete(record: SourceRecord, other: SourceRecord): void {
  inherit(record, other);
  record.tier ??= other.tier;
  if (record.givenCostUsd !== undefined) return;
  record.givenCostUsd = other.givenCostUsd;
  record.isCostTrusted = other.isCostTrusted;
}

const detailOf = (record: SourceRecord) => ({ rank: rankOf(record), emitter: record.emitter });
