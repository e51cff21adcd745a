import { createHash } from "node:crypto";
import { isSameMoney, judgeStatements, type NamedFact } from "@/lib/bills/statements";
import {
  compare,
  type Decimal,
  divideMoney,
  isZero,
  multiply,
  parseDecimal,
  sum,
  toText,
} from "@/lib/decimal";
import { addDays } from "@/lib/spend/period";

/** What a provider bills of a day. */
export type PulledDay = { day: string; amount: Decimal; facts: NamedFact[] };

/** A statement of the provider that is stored already. `sha256` is null where it is from a file. */
export type KnownStatement = {
  provider: string;
  account: string;
  from: string;
  until: string;
  amount_usd: string;
  sha256: string | null;
};

/** A day that is many times the usual one, and the usual amount, USD. */
export type HeldDay = { day: string; amount: Decimal; usual: Decimal };

export type ChosenDays = {
  changed: (PulledDay & { sha256: string })[];
  held: HeldDay[];
};

/** How many days before a day tell what is usual, and how many of them must have costs. */
export const usualDays = 28;
const leastUsualDays = 7;
/** From this many times the usual amount, and this much, a day is held for a person. */
const jump = parseDecimal(20);
const leastJump = parseDecimal(1);

/**
 * Chooses which pulled days are stored: those that the provider bills otherwise than what was pulled before. Not a day
 * - that a file bills as a part of a longer period, because that cannot be replaced in part;
 * - without costs that may only not be there yet: of the days that the provider still changes, or before the first costs;
 * - of many times the usual amount, unless `acceptsJump`: it is held.
 * @param days in their order
 * @param known what is stored of the provider, in the order in which it was made, from `usualDays` before the first day
 */
export function chooseDays(
  days: readonly PulledDay[],
  known: readonly KnownStatement[],
  account: {
    provider: string;
    account: string;
    /** The first day that the provider still changes. */
    changesFrom: string;
    hasData: boolean;
    acceptsJump: boolean;
  },
): ChosenDays {
  const own = new Map<string, { amount: Decimal; sha256: string }>();
  for (const { account: name, from, amount_usd: amount, sha256 } of known)
    if (name === account.account && sha256 !== null) own.set(from, { amount: parseDecimal(amount), sha256 });
  const { standings } = judgeStatements(known);
  const longer = known.filter(
    (one) =>
      standings.get(one)?.isReplaced === false &&
      one.until > addDays(one.from, 1) &&
      isSameMoney(one, account),
  );
  const chosen: ChosenDays = { changed: [], held: [] };
  let hasData = account.hasData;
  for (const pulled of days) {
    const { day, amount, facts } = pulled;
    const sha256 = hashOf(facts);
    const before = own.get(day);
    hasData ||= facts.length > 0;
    if (before?.sha256 === sha256) continue;
    if (facts.length === 0 && !before && (!hasData || day >= account.changesFrom)) continue;
    if (longer.some(({ from, until }) => from <= day && day < until)) continue;
    const usual = usualBefore(day, own);
    if (!account.acceptsJump && usual && isJump(amount, usual)) {
      chosen.held.push({ day, amount, usual });
      continue;
    }
    own.set(day, { amount, sha256 });
    chosen.changed.push({ ...pulled, sha256 });
  }
  return chosen;
}

/** The mean of the days with costs before a day; undefined where they are too few to tell. */
function usualBefore(day: string, own: ReadonlyMap<string, { amount: Decimal }>): Decimal | undefined {
  const amounts: Decimal[] = [];
  for (let before = addDays(day, -usualDays); before < day; before = addDays(before, 1)) {
    const amount = own.get(before)?.amount;
    if (amount && !isZero(amount)) amounts.push(amount);
  }
  if (amounts.length < leastUsualDays) return undefined;
  return divideMoney(sum(amounts), parseDecimal(amounts.length));
}

const isJump = (amount: Decimal, usual: Decimal) =>
  compare(usual, parseDecimal(0)) > 0 &&
  compare(amount, leastJump) >= 0 &&
  compare(amount, multiply(usual, jump)) >= 0;

/**
 * The same for the same facts, in whatever order and notation a provider writes them. A fact of nobody has the hash that it had before
 * facts had people.
 */
function hashOf(facts: readonly NamedFact[]): string {
  const lines = facts.map(({ line, model, unit, tier, key, amount, list, quantity, user }) =>
    JSON.stringify([
      ...[line, model, unit, tier, key, ...[amount, list, quantity].map((n) => n && toText(n))],
      ...(user === null ? [] : [user]),
    ]),
  );
  return createHash("sha256").update(lines.sort().join("\n")).digest("hex");
}
