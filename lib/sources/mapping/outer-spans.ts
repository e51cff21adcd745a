import type { Around } from "@/lib/ledger/ingest/call";
import type { Entry } from "@/lib/sources/otlp/entry";
import { insideKey, spanAround } from "./call-keys";
import type { SourceRecord } from "./source-record";

/** A record that counts, and what it was read from. */
export type Read = { entry: Entry; record: SourceRecord };

/** A span of an export, or one that its spans or log records name. */
type Span = Around & {
  outer: Span | undefined;
  /** The nearest record at or around the span, once it has inherited from those around it. */
  source: SourceRecord | undefined;
  isResolved: boolean;
};

/**
 * Leaves out spans around others that count: the inner one is the call itself, the outer one tells of it again or sums up
 * several. What only the outer one says about who and what for goes to the inner ones. Each span is visited a fixed number of
 * times, however many are inside it: an export may be one chain.
 * @returns the records that remain, and which entries are spans around one of them
 */
export function withoutOuter(
  read: readonly Read[],
  entries: readonly Entry[],
): { records: SourceRecord[]; isOuter: (entry: Entry) => boolean } {
  const spans = new Map<string, Span>();
  const spanOf = (trace: string, id: string): Span => {
    const name = `${trace}/${id}`;
    const known = spans.get(name);
    if (known) return known;
    const made = { mark: insideKey(trace, id), outer: undefined, source: undefined, isResolved: false };
    spans.set(name, made);
    return made;
  };
  for (const { signal, span } of entries) {
    if (signal === "traces" && span?.parent)
      spanOf(span.trace, span.id).outer = spanOf(span.trace, span.parent);
  }
  cutCycles(spans.values());
  for (const { entry, record } of read) {
    if (entry.signal === "traces" && entry.span) spanOf(entry.span.trace, entry.span.id).source = record;
  }
  /** The spans around records that count. */
  const outer = new Set<Span>();
  for (const { entry, record } of read) {
    const around = entry.span && spanAround(entry.signal, entry.span);
    // The link to a parent may have been cut.
    const start =
      around === undefined || !entry.span
        ? undefined
        : entry.signal === "logs"
          ? spanOf(entry.span.trace, around)
          : spanOf(entry.span.trace, entry.span.id).outer;
    if (!start) continue;
    record.keys.within = [start];
    for (let at: Span | undefined = start; at && !outer.has(at); at = at.outer) outer.add(at);
    const source = resolve(start);
    if (source) inherit(record, source);
  }
  const isOuter = ({ signal, span }: Entry) =>
    signal === "traces" && span !== undefined && outer.has(spanOf(span.trace, span.id));
  return { records: read.flatMap(({ entry, record }) => (isOuter(entry) ? [] : [record])), isOuter };
}

/** Cuts the links by which a span would be around itself. */
function cutCycles(spans: Iterable<Span>): void {
  const done = new Set<Span>();
  for (const start of spans) {
    const path = new Set<Span>();
    for (let at: Span | undefined = start; at && !done.has(at); at = at.outer) {
      path.add(at);
      if (at.outer && path.has(at.outer)) at.outer = undefined;
    }
    for (const span of path) done.add(span);
  }
}

/** The nearest record at or around a span. It has inherited from all records around it, the nearest first. */
function resolve(span: Span): SourceRecord | undefined {
  const path: Span[] = [];
  for (let at: Span | undefined = span; at && !at.isResolved; at = at.outer) path.push(at);
  for (const at of path.reverse()) {
    const around = at.outer?.source;
    if (at.source && around) inherit(at.source, around);
    at.source ??= around;
    at.isResolved = true;
  }
  return span.source;
}

/** Fills in what a record does not say about itself. Not its cost: an outer span's may be that of several calls. */
export function inherit(record: SourceRecord, from: SourceRecord): void {
  record.user ??= from.user;
  record.session ??= from.session;
  record.feature ??= from.feature;
  record.project ??= from.project;
  record.tags = { ...from.tags, ...record.tags };
  if (record.offered !== from.offered) record.offered = new Map([...from.offered, ...record.offered]);
}
