import type { TreeSpan } from "./span-tree";

/**
 * One telling of a call by a span: what tellings that share no id are compared by. The numbers but times are hashes of 48
 * bits. Times are microseconds since 1970.
 */
export type Telling = {
  /** Of the model and the counts. */
  likeness: number;
  /** Of the library that tells. */
  scope: number;
  trace: number;
  started_us: number;
  ended_us: number;
  /** The ids of the provider that it has, as bits: 1 of the response, 2 of the request. */
  ids: number;
  /** How the input divides into what was cached and what was not; 0 where it does not say. */
  cache: number;
  /** How much it says: `costRank` for a cost that counts, `kindRank` for each kind of tokens, and one for each name. */
  rank: number;
  emitter: string;
} & Partial<TreeSpan>;

/** How far a span may stand out of the one around it, and how near their starts or their ends have to be. */
const slackUs = 20_000;
const nearUs = 1_000_000;

/**
 * Whether two tellings are of one call, although they share no id. They are where another library tells, in another trace, the
 * same counts of the same model, one of them has no id of the provider's that the other has, and one span is inside the other
 * with its start or its end beside it. A library tells no call twice, and what is in one trace is told apart by its parents.
 */
export function isSameCall(one: Telling, other: Telling): boolean {
  if (one.likeness !== other.likeness || one.scope === other.scope || one.trace === other.trace) return false;
  if ((one.ids & other.ids) !== 0) return false;
  if (one.cache !== other.cache && one.cache !== 0 && other.cache !== 0) return false;
  return isInside(one, other) || isInside(other, one);
}

function isInside(inner: Telling, outer: Telling): boolean {
  const before = inner.started_us - outer.started_us;
  const after = outer.ended_us - inner.ended_us;
  return before >= -slackUs && after >= -slackUs && Math.min(before, after) <= nearUs;
}

/** How far apart the times of two tellings are, in microseconds: the less, the more one is in the middle of the other. */
function distance(one: Telling, other: Telling): number {
  return Math.hypot(one.started_us - other.started_us, one.ended_us - other.ended_us);
}

/**
 * How far apart two calls are that may be one, by all of their tellings: the least distance of two.
 * @returns undefined where they are two calls
 */
export function distanceOf(one: readonly Telling[], other: readonly Telling[]): number | undefined {
  let least: number | undefined;
  for (const a of one) {
    for (const b of other) {
      if (!isSameCall(a, b)) return undefined;
      least = Math.min(least ?? Number.POSITIVE_INFINITY, distance(a, b));
    }
  }
  return least;
}

/** What a kind of tokens counts in a rank: more than all names. */
export const kindRank = 8;

/** What a cost that counts, because its emitter bills it, adds to a rank: more than all kinds and names. */
export const costRank = 1024;

/** How the span of one telling stands to that of another: inside or around it, or beside it in another trace or with the same id. */
export type Relation = "inside" | "around" | "beside";

/** How much a telling says, and whose it is. */
export type Standing = Pick<Telling, "rank" | "emitter">;

/**
 * Whether tellings say more of their call than others. Of nested spans, the one with more kinds of tokens does, then the inner one. Of
 * others: what was billed; then more kinds; then the emitter's name decides, because their counts may differ and the order in which they
 * come shall not; of one emitter's, more names.
 * @param relation how `one` stands to `other`
 */
export function isRicher(
  one: readonly Standing[],
  other: readonly Standing[],
  relation: Relation = "beside",
): boolean {
  const [a, b] = [best(one), best(other)];
  if (relation === "beside") return compareStandings(a, b) > 0;
  const more = kindsIn(a) - kindsIn(b);
  return more > 0 || (more === 0 && relation === "inside");
}

const kindsIn = ({ rank }: Standing): number => Math.floor((rank % costRank) / kindRank);
const costIn = ({ rank }: Standing): number => Math.floor(rank / costRank);

function compareStandings(a: Standing, b: Standing): number {
  const more = costIn(a) - costIn(b) || kindsIn(a) - kindsIn(b);
  if (more !== 0) return more;
  if (a.emitter !== b.emitter) return a.emitter < b.emitter ? 1 : -1;
  return a.rank - b.rank;
}

function best(tellings: readonly Standing[]): Standing {
  return tellings.reduce((richest, next) => (compareStandings(next, richest) > 0 ? next : richest));
}

/** How many calls at most one is compared with, among those that are alike and begin next. */
const maxCompared = 500;

/**
 * Joins calls that are told twice, the nearest first.
 * @param tellingsOf the tellings of a call; none for one that is not compared
 * @param join makes one of two calls and returns it
 * @returns the calls that remain, in their order
 */
export function joinSameCalls<Call extends object>(
  calls: readonly Call[],
  tellingsOf: (call: Call) => readonly Telling[],
  join: (one: Call, other: Call) => Call,
): Call[] {
  const alike = new Map<number, Call[]>();
  const scopes = new Set<number>();
  for (const call of calls) {
    for (const { scope } of tellingsOf(call)) scopes.add(scope);
    const [first] = tellingsOf(call);
    if (!first) continue;
    const known = alike.get(first.likeness);
    if (known) known.push(call);
    else alike.set(first.likeness, [call]);
  }
  if (scopes.size < 2) return [...calls];
  /** What a call was joined into. */
  const into = new Map<Call, Call>();
  const resolve = (call: Call): Call => {
    let at = call;
    for (let next = into.get(at); next; next = into.get(at)) at = next;
    return at;
  };
  for (const list of alike.values()) {
    const pairs = nearPairs(list, tellingsOf).sort((a, b) => a.apart - b.apart);
    for (const { one, other } of pairs) {
      const [a, b] = [resolve(one), resolve(other)];
      if (a === b || distanceOf(tellingsOf(a), tellingsOf(b)) === undefined) continue;
      const joined = join(a, b);
      into.set(joined === a ? b : a, joined);
    }
  }
  return calls.filter((call) => !into.has(call));
}

function nearPairs<Call>(calls: readonly Call[], tellingsOf: (call: Call) => readonly Telling[]) {
  const startOf = (call: Call) => tellingsOf(call)[0]?.started_us ?? 0;
  const sorted = calls.toSorted((a, b) => startOf(a) - startOf(b));
  return sorted.flatMap((one, index) =>
    sorted.slice(index + 1, index + 1 + maxCompared).flatMap((other) => {
      const apart = distanceOf(tellingsOf(one), tellingsOf(other));
      return apart === undefined ? [] : [{ one, other, apart }];
    }),
  );
}
