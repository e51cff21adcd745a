import { compare, type Decimal, zero } from "@/lib/decimal";
import type { Around } from "@/lib/ledger/ingest/call";
import type { Attribution } from "@/lib/sources/emitters/emitter";
import type { Attributes, Entry } from "@/lib/sources/otlp/entry";
import { insideKey, spanAround } from "./call-keys";
import { canonicalModel } from "./call-report";
import { firstText } from "./first-of";
import { readAttribution } from "./read-attribution";
import type { SourceRecord } from "./source-record";
import { allInput } from "./tokens";

/** A counted record, its entry, and the attributes in which its emitter has names. */
export type Read = { entry: Entry; record: SourceRecord; attribution: Attribution };

/** Names from the attributes of a span and of the spans around it. */
export type Names = Partial<
  Pick<SourceRecord, "user" | "session" | "feature" | "project" | "tags" | "offered">
>;

/** A span of an export, or one that its spans or log records name. */
type Span = Around & {
  outer: Span | undefined;
  /** The nearest record at or around the span. Once resolved, it has inherited from the records around it. */
  source: SourceRecord | undefined;
  /** Its own entry, counted or not. */
  entry: Entry | undefined;
  /** Once resolved: each name from the nearest span, at or around this one, that has it. */
  names: Names | undefined;
  isResolved: boolean;
};

/**
 * Leaves out counted spans that enclose other counted records: the inner record is the call itself, the outer span reports it again or
 * sums up several.
 *
 * A call takes each name (user, session, feature, project, tags) from its own attributes, otherwise from the nearest span around it that
 * has the name, counted or not (an agent, a workflow, a request), otherwise from its resource. Each span is visited a fixed number of
 * times, however many are inside it, because an export may be one long chain.
 * @param attributionOf the attributes in which the emitter of a span has names
 * @returns the remaining records; `isOuter`: whether an entry is a span around one of them
 */
export function withoutOuter(
  read: readonly Read[],
  entries: readonly Entry[],
  attributionOf: (entry: Entry) => Attribution,
): { records: SourceRecord[]; isOuter: (entry: Entry) => boolean } {
  const spans = new Map<string, Span>();
  const spanOf = (trace: string, id: string): Span => {
    const name = `${trace}/${id}`;
    const known = spans.get(name);
    if (known) return known;
    const made: Span = {
      mark: insideKey(trace, id),
      outer: undefined,
      source: undefined,
      entry: undefined,
      names: undefined,
      isResolved: false,
    };
    spans.set(name, made);
    return made;
  };
  if (read.length === 0) return { records: [], isOuter: () => false };
  const own = new Map<Entry, Span>();
  for (const entry of entries) {
    const { signal, span } = entry;
    if (signal !== "traces" || !span) continue;
    const made = spanOf(span.trace, span.id);
    made.entry = entry;
    own.set(entry, made);
    if (span.parent) made.outer = spanOf(span.trace, span.parent);
  }
  cutCycles(spans.values());
  for (const { entry, record } of read) {
    const span = own.get(entry);
    if (span) span.source = record;
  }
  /** The spans around counted records. */
  const outer = new Set<Span>();
  for (const { entry, record, attribution } of read) {
    const around = entry.span && spanAround(entry.signal, entry.span);
    // The link to a parent may have been cut.
    const start =
      around === undefined || !entry.span
        ? undefined
        : entry.signal === "logs"
          ? spanOf(entry.span.trace, around)
          : own.get(entry)?.outer;
    if (!start) continue;
    record.keys.within = [start];
    for (let at: Span | undefined = start; at && !outer.has(at); at = at.outer) outer.add(at);
    resolve(start, attributionOf);
    if (start.names) takeNames(record, start.names, entry, attribution);
    if (start.source) takeFromAround(record, start.source);
  }
  const isOuter = (entry: Entry) => {
    const span = own.get(entry);
    return span !== undefined && outer.has(span);
  };
  return { records: read.flatMap(({ entry, record }) => (isOuter(entry) ? [] : [record])), isOuter };
}

/** Removes links that form a cycle. */
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

/** Sets a span's names and its nearest record, which inherits from all records around it. */
function resolve(span: Span, attributionOf: (entry: Entry) => Attribution): void {
  const path: Span[] = [];
  for (let at: Span | undefined = span; at && !at.isResolved; at = at.outer) path.push(at);
  for (const at of path.reverse()) {
    const around = at.outer?.source;
    if (at.source && around) takeFromAround(at.source, around);
    at.source ??= around;
    at.names = nearer(at.entry && ownNames(at.entry, attributionOf(at.entry)), at.outer?.names);
    at.isResolved = true;
  }
}

const noAttributes: Attributes = new Map();

/** The names in a span's own attributes. Its resource does not count, because calls inside it may have run elsewhere. */
export function ownNames({ own, offered }: Entry, attribution: Attribution): Names | undefined {
  if (own.size === 0 && offered.size === 0) return undefined;
  const { user, session, tags } = readAttribution(attribution, own, noAttributes);
  const feature = firstText(attribution.feature, own);
  const project = firstText(attribution.project, own);
  const hasName = (user ?? session ?? feature ?? project) !== undefined;
  if (!hasName && offered.size === 0 && Object.keys(tags).length === 0) return undefined;
  return { user, session, feature, project, tags, offered };
}

function nearer(near: Names | undefined, far: Names | undefined): Names | undefined {
  if (!near || !far) return near ?? far;
  return {
    user: near.user ?? far.user,
    session: near.session ?? far.session,
    feature: near.feature ?? far.feature,
    project: near.project ?? far.project,
    tags: { ...far.tags, ...near.tags },
    offered: new Map([...(far.offered ?? []), ...(near.offered ?? [])]),
  };
}

/** Gives a record the names of spans around it that its own attributes lack. They replace names from its resource. */
function takeNames(record: SourceRecord, names: Names, { own, offered }: Entry, attribution: Attribution) {
  for (const name of ["user", "session", "feature", "project"] as const) {
    const reported = names[name];
    if (reported !== undefined && firstText(attribution[name], own) === undefined) record[name] = reported;
  }
  for (const [name, reported] of Object.entries(names.tags ?? {})) {
    if (firstText(attribution.tags[name], own) === undefined)
      record.tags = { ...record.tags, [name]: reported };
  }
  if (names.offered && names.offered.size > 0)
    record.offered = new Map([...record.offered, ...names.offered, ...offered]);
}

/**
 * Adds what the record around a record has and it lacks. Takes over the outer counts if they are the same divided into more kinds: then
 * the outer record reports this call only.
 */
function takeFromAround(record: SourceRecord, around: SourceRecord): void {
  inherit(record, around);
  if (Object.keys(around.tokens).length <= Object.keys(record.tokens).length) return;
  if (!isAlike(record, around)) return;
  record.tokens = around.tokens;
  record.tier ??= around.tier;
}

/** Whether two records have the same model and the same total input and output. */
function isAlike(one: SourceRecord, other: SourceRecord): boolean {
  const outputs = [one, other].map(({ tokens }) => tokens.output ?? zero) as [Decimal, Decimal];
  return (
    compare(...outputs) === 0 &&
    compare(allInput(one.tokens), allInput(other.tokens)) === 0 &&
    canonicalModel(one.model ?? "") === canonicalModel(other.model ?? "")
  );
}

/** Adds the names that a record lacks. Not the cost, because that of an outer span may be for several calls. */
export function inherit(record: SourceRecord, from: SourceRecord): void {
  record.user ??= from.user;
  record.session ??= from.session;
  record.feature ??= from.feature;
  record.project ??= from.project;
  record.tags = { ...from.tags, ...record.tags };
  if (record.offered !== from.offered) record.offered = new Map([...from.offered, ...record.offered]);
}
