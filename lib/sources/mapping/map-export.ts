import type { StoredSource } from "@/lib/keys/api-key";
import type { Entry } from "@/lib/sources/otlp/entry";
import { insideKey } from "./call-keys";
import { readRecord } from "./read-record";
import { findEmitter, findRemedy, findRule } from "./recognise";
import type { SourceRecord } from "./source-record";

/** What an export tells: its calls, each once, and remarks for whoever runs the emitter. */
export type Mapped = { records: SourceRecord[]; remarks: string[] };

/**
 * Reads the records of an export that count. Pure.
 * @param settings of the source
 * @param emitterOf which emitter a record is of
 */
export function mapExport(
  entries: Entry[],
  settings: StoredSource | null = null,
  emitterOf = findEmitter,
): Mapped {
  const remarks = new Set<string>();
  const read: { entry: Entry; record: SourceRecord }[] = [];
  for (const entry of entries) {
    const emitter = emitterOf(entry);
    const rule = findRule(emitter, entry);
    const record = rule && readRecord(emitter, rule, entry, settings);
    if (record) read.push({ entry, record });
    const remedy = findRemedy(emitter, entry);
    if (remedy) remarks.add(remedy);
  }
  const records = mergeSameCall(withoutOuter(read, entries));
  const unknown = new Map<string, number>();
  for (const { isKnownEmitter, scope, service } of records) {
    if (isKnownEmitter) continue;
    const name = `the scope ${JSON.stringify(scope)} of the service ${JSON.stringify(service)}`;
    unknown.set(name, (unknown.get(name) ?? 0) + 1);
  }
  for (const [name, count] of unknown)
    remarks.add(`Counted by the GenAI conventions, because ${name} is no known emitter: ${count}.`);
  const leftOut = new Map<string, number>();
  for (const what of records.flatMap((record) => record.leftOut)) {
    leftOut.set(what, (leftOut.get(what) ?? 0) + 1);
  }
  for (const [what, count] of leftOut) remarks.add(`Recorded ${count} without ${what}.`);
  return { records, remarks: [...remarks] };
}

/**
 * Leaves out spans around others that count: the inner one is the call itself, the outer one tells of it again or sums up
 * several. What only the outer one says about who and what for goes to the inner ones.
 */
function withoutOuter(read: { entry: Entry; record: SourceRecord }[], entries: Entry[]): SourceRecord[] {
  const parents = new Map<string, string>();
  for (const { signal, span } of entries) {
    if (signal === "traces" && span?.parent) parents.set(idOf(span.trace, span.id), span.parent);
  }
  const counted = new Map<string, SourceRecord>();
  for (const { entry, record } of read) {
    if (entry.signal === "traces" && entry.span) counted.set(idOf(entry.span.trace, entry.span.id), record);
  }
  const told = new Set<SourceRecord>();
  for (const { entry, record } of read) {
    if (!entry.span) continue;
    const { trace } = entry.span;
    const seen = new Set<string>();
    let around = entry.signal === "logs" ? entry.span.id : entry.span.parent;
    while (around !== undefined && !seen.has(around)) {
      seen.add(around);
      const outer = counted.get(idOf(trace, around));
      if (outer) {
        told.add(outer);
        inherit(record, outer);
      }
      record.keys.within.push(insideKey(trace, around));
      around = parents.get(idOf(trace, around));
    }
    record.keys.within = [...new Set(record.keys.within)];
  }
  return read.map(({ record }) => record).filter((record) => !told.has(record));
}

function idOf(trace: string, span: string): string {
  return `${trace}/${span}`;
}

/** Fills in what a record does not say about itself. Not its cost: an outer span's may be that of several calls. */
function inherit(record: SourceRecord, from: SourceRecord): void {
  record.user ??= from.user;
  record.session ??= from.session;
  record.feature ??= from.feature;
  record.project ??= from.project;
  record.tags = { ...from.tags, ...record.tags };
  if (record.offered !== from.offered) record.offered = new Map([...from.offered, ...record.offered]);
}

/** Joins the records of one call: the one that tells most kinds of tokens stays, with the keys of all. */
function mergeSameCall(records: SourceRecord[]): SourceRecord[] {
  const byKey = new Map<string, SourceRecord>();
  const joined = new Map<SourceRecord, SourceRecord>();
  for (const record of records) {
    const other = record.keys.own.map((key) => byKey.get(key)).find((known) => known !== undefined);
    const best = other && kinds(other) >= kinds(record) ? other : record;
    if (other) {
      const lesser = best === other ? record : other;
      inherit(best, lesser);
      if (best.givenCostUsd === undefined) {
        best.givenCostUsd = lesser.givenCostUsd;
        best.isCostTrusted = lesser.isCostTrusted;
      }
      for (const name of ["own", "outer", "inner", "within"] as const)
        best.keys[name] = [...new Set([...best.keys[name], ...lesser.keys[name]])];
      joined.set(lesser, best);
    }
    for (const key of best.keys.own) byKey.set(key, best);
  }
  return records.filter((record) => !joined.has(record));
}

function kinds({ tokens }: SourceRecord): number {
  return Object.keys(tokens).length;
}
