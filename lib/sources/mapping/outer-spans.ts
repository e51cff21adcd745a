import { compare, type Decimal, zero } from "@/lib/decimal";
import type { Around } from "@/lib/ledger/ingest/call";
import type { Attribution } from "@/lib/sources/emitters/emitter";
import type { Attributes, Entry } from "@/lib/sources/otlp/entry";
import { insideKey, spanAround } from "./call-keys";
import { firstText } from "./first-of";
import { readAttribution } from "./read-attribution";
import type { SourceRecord } from "./source-record";
import { canonicalModel } from "./telling-of";
import { allInput } from "./tokens";

/** A record that counts, what it was read from, and where its emitter names whose it is. */
export type Read = { entry: Entry; record: SourceRecord; attribution: Attribution };

/** Who and what a span, and those around it, are about by their own attributes. */
export type Names = Partial<
  Pick<SourceRecord, "user" | "session" | "feature" | "project" | "tags" | "offered">
>;

/** A span of an export, or one that its spans or log records name. */
type Span = Around & {
  outer: Span | undefined;
  /** The nearest record at or around the span, once it has inherited from those around it. */
  source: SourceRecord | undefined;
  /** Its own entry, counted or not. */
  entry: Entry | undefined;
  /** Once it is resolved: the names of the nearest spans at or around it that have them. */
  names: Names | undefined;
  isResolved: boolean;
};

/**
 * Leaves out spans around others that count: the inner one is the call itself, the outer one tells of it again or sums up
 * several.
 *
 * Whose a call is, is what it says itself, else what the nearest span around it says that has the name, whether that span is counted
 * or not (an agent, a workflow, a request), else what its resource says. Each span is visited a fixed number of times, however
 * many are inside it: an export may be one chain.
 * @param attributionOf where the emitter of a span names whose it is
 * @returns the records that remain, and which entries are spans around one of them
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
  /** The spans around records that count. */
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

/** Finds a span's names, and the nearest record at or around it, which has inherited from all records around it. */
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

/** What a span says itself. Its resource is where it ran, and says nothing about calls that ran elsewhere. */
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

/** Gives a record the names around it that it does not have itself. Its resource's give way to them. */
function takeNames(record: SourceRecord, names: Names, { own, offered }: Entry, attribution: Attribution) {
  for (const name of ["user", "session", "feature", "project"] as const) {
    const told = names[name];
    if (told !== undefined && firstText(attribution[name], own) === undefined) record[name] = told;
  }
  for (const [name, told] of Object.entries(names.tags ?? {})) {
    if (firstText(attribution.tags[name], own) === undefined) record.tags = { ...record.tags, [name]: told };
  }
  if (names.offered && names.offered.size > 0)
    record.offered = new Map([...record.offered, ...names.offered, ...offered]);
}

/**
 * Fills in what the record around a record says and it does not. Its kinds of tokens are taken where they are more of the same counts:
 * it tells of this call alone then.
 */
function takeFromAround(record: SourceRecord, around: SourceRecord): void {
  inherit(record, around);
  if (Object.keys(around.tokens).length <= Object.keys(record.tokens).length) return;
  if (!isAlike(record, around)) return;
  record.tokens = around.tokens;
  record.tier ??= around.tier;
}

/** Whether two records have the same model and the same counts, however these divide. */
function isAlike(one: SourceRecord, other: SourceRecord): boolean {
  const outputs = [one, other].map(({ tokens }) => tokens.output ?? zero) as [Decimal, Decimal];
  return (
    compare(...outputs) === 0 &&
    compare(allInput(one.tokens), allInput(other.tokens)) === 0 &&
    canonicalModel(one.model ?? "") === canonicalModel(other.model ?? "")
  );
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
