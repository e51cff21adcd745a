import type { TreeSpan } from "./span-tree";

/**
 * One report of a call by a span, with the properties by which reports without a common id are compared. Hashes have 48 bits; `trace`
 * is the last 48 bits of the trace's id. Times are microseconds since 1970.
 */
export type CallReport = {
  /** Hash of the model and the counts. */
  likeness: number;
  /** Hash of the library that made the span. */
  scope: number;
  trace: number;
  started_us: number;
  ended_us: number;
  /** Which of the provider's ids it has, as bits: 1 for the response's, 2 for the request's. */
  ids: number;
  /** Hash of how the input divides into cached and uncached tokens; 0 if the span does not say. */
  cache: number;
  /** How detailed it is: `costRank` for a cost that counts, `kindRank` for each kind of tokens, and 1 for each name. */
  rank: number;
  emitter: string;
} & Partial<TreeSpan>;

/** How far a span may exceed the span around it, and how close their starts or their ends must be, in microseconds. */
const slackUs = 20_000;
const nearUs = 1_000_000;

/**
 * Whether two reports report one call, although they share no id. They do if they have the same model and counts, come from different
 * libraries in different traces, have no kind of provider id in common, and one span is inside the other with a start or an end close to
 * its own. A library does not report a call twice, and spans of one trace are compared by their parents instead.
 */
export function isSameCall(one: CallReport, other: CallReport): boolean {
  if (one.likeness !== other.likeness || one.scope === other.scope || one.trace === other.trace) return false;
  if ((one.ids & other.ids) !== 0) return false;
  if (one.cache !== other.cache && one.cache !== 0 && other.cache !== 0) return false;
  return isInside(one, other) || isInside(other, one);
}

function isInside(inner: CallReport, outer: CallReport): boolean {
  const before = inner.started_us - outer.started_us;
  const after = outer.ended_us - inner.ended_us;
  return before >= -slackUs && after >= -slackUs && Math.min(before, after) <= nearUs;
}

/** The distance in time of two reports, in microseconds. It is smallest if one is in the middle of the other. */
function distance(one: CallReport, other: CallReport): number {
  return Math.hypot(one.started_us - other.started_us, one.ended_us - other.ended_us);
}

/**
 * The distance in time of two calls that may be the same: the least distance of their reports, in microseconds.
 * @returns undefined if they are different calls
 */
export function distanceOf(one: readonly CallReport[], other: readonly CallReport[]): number | undefined {
  let least: number | undefined;
  for (const a of one) {
    for (const b of other) {
      if (!isSameCall(a, b)) return undefined;
      least = Math.min(least ?? Number.POSITIVE_INFINITY, distance(a, b));
    }
  }
  return least;
}

/** What a kind of tokens adds to a rank: more than all names. */
export const kindRank = 8;

/** What a cost adds to a rank if it counts, because the emitter bills it: more than all kinds and names. */
export const costRank = 1024;

/** The relation of a report's span to another one: inside it, around it, or beside it (in another trace, or with the same id). */
export type Relation = "inside" | "around" | "beside";

/** How detailed a report is, and its emitter. */
export type ReportDetail = Pick<CallReport, "rank" | "emitter">;

/**
 * Whether reports `one` are more detailed than `other` reports of the same call. Of nested spans, the one with more kinds of tokens is,
 * otherwise the inner one. Of others: first the one with a billed cost, then with more kinds of tokens; then the emitter that is first by
 * name, so that the result does not depend on the order of arrival; for one emitter, the one with more names.
 * @param relation of `one` to `other`
 */
export function isMoreDetailed(
  one: readonly ReportDetail[],
  other: readonly ReportDetail[],
  relation: Relation = "beside",
): boolean {
  const [a, b] = [best(one), best(other)];
  if (relation === "beside") return compareDetail(a, b) > 0;
  const more = kindsIn(a) - kindsIn(b);
  return more > 0 || (more === 0 && relation === "inside");
}

const kindsIn = ({ rank }: ReportDetail): number => Math.floor((rank % costRank) / kindRank);
const costIn = ({ rank }: ReportDetail): number => Math.floor(rank / costRank);

function compareDetail(a: ReportDetail, b: ReportDetail): number {
  const more = costIn(a) - costIn(b) || kindsIn(a) - kindsIn(b);
  if (more !== 0) return more;
  if (a.emitter !== b.emitter) return a.emitter < b.emitter ? 1 : -1;
  return a.rank - b.rank;
}

function best(reports: readonly ReportDetail[]): ReportDetail {
  return reports.reduce((richest, next) => (compareDetail(next, richest) > 0 ? next : richest));
}

/** With how many of the next calls of the same likeness a call is compared at most. */
const maxCompared = 500;

/**
 * Joins calls that are reported twice, the nearest in time first.
 * @param reportsOf the reports of a call; none for a call that is not compared
 * @param join merges two calls into one of them and returns that
 * @returns the calls that remain, in their order
 */
export function joinSameCalls<Call extends object>(
  calls: readonly Call[],
  reportsOf: (call: Call) => readonly CallReport[],
  join: (one: Call, other: Call) => Call,
): Call[] {
  const alike = new Map<number, Call[]>();
  const scopes = new Set<number>();
  for (const call of calls) {
    for (const { scope } of reportsOf(call)) scopes.add(scope);
    const [first] = reportsOf(call);
    if (!first) continue;
    const known = alike.get(first.likeness);
    if (known) known.push(call);
    else alike.set(first.likeness, [call]);
  }
  if (scopes.size < 2) return [...calls];
  /** The call into which each joined call was merged. */
  const into = new Map<Call, Call>();
  const resolve = (call: Call): Call => {
    let at = call;
    for (let next = into.get(at); next; next = into.get(at)) at = next;
    return at;
  };
  for (const list of alike.values()) {
    const pairs = nearPairs(list, reportsOf).sort((a, b) => a.apart - b.apart);
    for (const { one, other } of pairs) {
      const [a, b] = [resolve(one), resolve(other)];
      if (a === b || distanceOf(reportsOf(a), reportsOf(b)) === undefined) continue;
      const joined = join(a, b);
      into.set(joined === a ? b : a, joined);
    }
  }
  return calls.filter((call) => !into.has(call));
}

function nearPairs<Call>(calls: readonly Call[], reportsOf: (call: Call) => readonly CallReport[]) {
  const startOf = (call: Call) => reportsOf(call)[0]?.started_us ?? 0;
  const sorted = calls.toSorted((a, b) => startOf(a) - startOf(b));
  return sorted.flatMap((one, index) =>
    sorted.slice(index + 1, index + 1 + maxCompared).flatMap((other) => {
      const apart = distanceOf(reportsOf(one), reportsOf(other));
      return apart === undefined ? [] : [{ one, other, apart }];
    }),
  );
}
