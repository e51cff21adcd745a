import type { TreeSpan } from "@/lib/ledger/telemetry/span-tree";
import type { Submission } from "./call";
import type { LedgerRow } from "./ledger";

/** A posting as it is stored. Null where a column is empty. */
export type StoredPosting = LedgerRow & { voided_by: string | null };

/** A message of a workspace that is read by its id: it tells a call that began or ended at a time, microseconds since 1970. */
export type WantedMessage = { workspaceId: string; id: string; atUs: number };

/** Messages that were read by their ids, for those who asked for them. */
export type ReadMessages = { wanted: readonly WantedMessage[]; postings: readonly StoredPosting[] };

/**
 * Alike tellings of a key: from the first start to the last end, with the last start and the first end. `teller`: the place of
 * the key's lookup; `scope`: null where several programs tell them; `most`: how many others are loaded at most.
 * `private.load_tellings` decides how much earlier and later than these it finds others.
 */
export type WantedTellings = {
  teller: number;
  likeness: number;
  scope: number | null;
  from: number;
  until: number;
  last_start: number;
  first_end: number;
  most: number;
};

/** How many tellings are loaded at most for alike ones: a share of those that a key may have loaded, and some for each of them. */
const loaded = { ofKey: 8_000, ofLikeness: { least: 16, most: 500 }, ofTelling: 8 };

/**
 * What the database must be asked to decide what emitters tell with a key: the tellings that are alike, each once.
 * @param teller the place of the key's lookup
 */
export function wantedOf(submissions: Iterable<Submission>, teller: number): WantedTellings[] {
  const wanted = new Map<number, WantedTellings>();
  for (const { telling } of submissions) {
    for (const { likeness, scope, started_us: start, ended_us: end } of telling?.tellings ?? []) {
      const known = wanted.get(likeness);
      if (!known) {
        const times = { from: start, until: end, last_start: start, first_end: end };
        wanted.set(likeness, { teller, likeness, scope, ...times, most: loaded.ofTelling });
      } else {
        if (known.scope !== scope) known.scope = null;
        known.from = Math.min(known.from, start);
        known.until = Math.max(known.until, end);
        known.last_start = Math.max(known.last_start, start);
        known.first_end = Math.min(known.first_end, end);
        known.most += loaded.ofTelling;
      }
    }
  }
  const { least, most } = loaded.ofLikeness;
  const share = Math.max(least, Math.min(most, Math.floor(loaded.ofKey / wanted.size)));
  return Array.from(wanted.values(), (each) => ({ ...each, most: each.most + share }));
}

/** The spans of a trace that a group brings: those around and inside them are loaded, which earlier exports brought. */
export type WantedSpans = { teller: number; trace: number; spans: number[]; parents: number[] };

/** What the database must be asked for the spans of exports. @param teller the place of the key's lookup */
export function wantedSpans(spans: Iterable<TreeSpan>, teller: number): WantedSpans[] {
  const wanted = new Map<number, { spans: Set<number>; parents: Set<number> }>();
  for (const { trace, span, parent } of spans) {
    const known = wanted.get(trace) ?? { spans: new Set(), parents: new Set() };
    wanted.set(trace, known);
    known.spans.add(span);
    if (parent !== null) known.parents.add(parent);
  }
  return Array.from(wanted, ([trace, { spans, parents }]) => ({
    teller,
    trace,
    spans: [...spans],
    parents: [...parents].filter((parent) => !spans.has(parent)),
  }));
}

/** The spans that a call was told by. */
export function spansOf({ telling }: Submission): TreeSpan[] {
  return (telling?.tellings ?? []).flatMap((each) => (hasPlace(each) ? [each] : []));
}

/** Whether a telling says where its span stands. Records that a version before this one has kept do not. */
export function hasPlace<Told extends Partial<TreeSpan>>(telling: Told): telling is Told & TreeSpan {
  return typeof telling.span === "number";
}
