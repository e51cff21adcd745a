import type { TreeSpan } from "@/lib/ledger/telemetry/span-tree";
import type { Submission } from "./call";
import type { LedgerRow } from "./ledger";

/** A posting as stored. Empty columns are null. */
export type LoadedPosting = LedgerRow & { voided_by: string | null };

/** A message to be read by its id. `atUs`: when the call of the report that needs it ended, microseconds since 1970. */
export type WantedMessage = { workspaceId: string; id: string; atUs: number };

/** The result of reading messages by their ids. */
export type ReadMessages = { wanted: readonly WantedMessage[]; postings: readonly LoadedPosting[] };

/**
 * Asks for stored reports of a key with the same likeness as some of a group. `from`, `until`, `last_start` and `first_end`: the
 * earliest start, latest end, latest start and earliest end of the group's. `teller`: the index of the key's lookup. `scope`: null if
 * they come from several libraries. `most`: how many are loaded at most. `private.load_tellings` extends the range of time.
 */
export type WantedReports = {
  teller: number;
  likeness: number;
  scope: number | null;
  from: number;
  until: number;
  last_start: number;
  first_end: number;
  most: number;
};

/** How many reports are loaded at most: for a likeness a share of `ofKey`, within bounds, and `ofReport` for each of its reports. */
const loaded = { ofKey: 8_000, ofLikeness: { least: 16, most: 500 }, ofReport: 8 };

/**
 * The stored reports that must be loaded to decide a key's submissions, once for each likeness.
 * @param teller the index of the key's lookup
 */
export function wantedOf(submissions: Iterable<Submission>, teller: number): WantedReports[] {
  const wanted = new Map<number, WantedReports>();
  for (const { callKeys } of submissions) {
    for (const { likeness, scope, started_us: start, ended_us: end } of callKeys?.reports ?? []) {
      const known = wanted.get(likeness);
      if (!known) {
        const times = { from: start, until: end, last_start: start, first_end: end };
        wanted.set(likeness, { teller, likeness, scope, ...times, most: loaded.ofReport });
      } else {
        if (known.scope !== scope) known.scope = null;
        known.from = Math.min(known.from, start);
        known.until = Math.max(known.until, end);
        known.last_start = Math.max(known.last_start, start);
        known.first_end = Math.min(known.first_end, end);
        known.most += loaded.ofReport;
      }
    }
  }
  const { least, most } = loaded.ofLikeness;
  const share = Math.max(least, Math.min(most, Math.floor(loaded.ofKey / wanted.size)));
  return Array.from(wanted.values(), (each) => ({ ...each, most: each.most + share }));
}

/** Asks for the spans of earlier exports around and inside a group's spans of a trace. `teller`: the index of the key's lookup. */
export type WantedSpans = { teller: number; trace: number; spans: number[]; parents: number[] };

/** The stored spans that must be loaded for the spans of exports. @param teller the index of the key's lookup */
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

/** The spans that reported a call. */
export function spansOf({ callKeys }: Submission): TreeSpan[] {
  return (callKeys?.reports ?? []).flatMap((each) => (hasPlace(each) ? [each] : []));
}

/** Whether a report has the place of its span in the trace. Rows that earlier versions stored do not. */
export function hasPlace<Report extends Partial<TreeSpan>>(report: Report): report is Report & TreeSpan {
  return typeof report.span === "number";
}
