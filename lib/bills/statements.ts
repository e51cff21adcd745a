import { add, compare, type Decimal, parseDecimal, sum } from "@/lib/decimal";
import { addDays } from "@/lib/spend/period";
import type { Dollars } from "./money";

/** What a bill says of one combination of line, model, unit, tier and key. Null: the bill does not say. */
export type BilledFact = {
  line: string | null;
  model: string | null;
  unit: string | null;
  tier: string | null;
  key: string | null;
  amount: Decimal;
  /** Before discounts. */
  list: Decimal | null;
  quantity: Decimal | null;
};

/** A fact of one person. `user`: whom the bill names, an e-mail address in lower case; null where it names nobody. */
export type NamedFact = BilledFact & { user: string | null };

/** Whether a unit counts tokens. */
export const isTokens = (unit: string | null): boolean => unit?.endsWith("_tokens") ?? false;

/** A period of one provider and account: from the first day to before the second. An account may be empty. */
export type Period = { provider: string; account: string; from: string; until: string };

/** What a bill states of a period. */
export type Statement = Period & { amount: Decimal; facts: NamedFact[] };

/** A row of a bill. */
export type BilledRow = Period & Omit<NamedFact, "amount"> & { amount: Dollars };

/** Makes statements of rows. Rows with the same coordinates are one fact, which has their sum. */
export function toStatements(rows: Iterable<BilledRow>): Statement[] {
  const byPeriod = new Map<string, Period & { facts: Map<string, NamedFact> }>();
  for (const { provider, account, from, until, ...fact } of rows) {
    const period = JSON.stringify([provider, account, from, until]);
    const found = byPeriod.get(period) ?? { provider, account, from, until, facts: new Map() };
    byPeriod.set(period, found);
    const coordinates = JSON.stringify([fact.line, fact.model, fact.unit, fact.tier, fact.key, fact.user]);
    const present = found.facts.get(coordinates);
    found.facts.set(coordinates, present ? plus(present, fact) : fact);
  }
  return [...byPeriod.values()].map(({ facts: byCoordinates, ...period }) => {
    const facts = [...byCoordinates.values()];
    return { ...period, facts, amount: sum(facts.map(({ amount }) => amount)) };
  });
}

/** A sum is known where both sides are. */
const plus = (a: NamedFact, b: NamedFact): NamedFact => ({
  ...a,
  amount: add(a.amount, b.amount),
  list: a.list && b.list && add(a.list, b.list),
  quantity: a.quantity && b.quantity && add(a.quantity, b.quantity),
});

/** The days of a period, each `YYYY-MM-DD`. `until` is the first day after it. */
export function daysOf({ from, until }: Pick<Period, "from" | "until">): string[] {
  const days: string[] = [];
  for (let day = from; day < until; day = addDays(day, 1)) days.push(day);
  return days;
}

/** A statement as it is judged. */
type Judged = Period & { amount_usd: string };

/** Whether both are reports of the same money: of one provider, and not of different accounts. */
export const isSameMoney = (one: Pick<Period, "provider" | "account">, other: typeof one): boolean =>
  one.provider === other.provider &&
  (one.account === other.account || one.account === "" || other.account === "");

/** What became of a statement: whether later ones count in its place, and what counted of its days before it, if all of that is within them. */
export type Standing = { isReplaced: boolean; former: Decimal | null };

/**
 * Which statements count. A statement replaces earlier ones of the same money that have a day in common with it.
 * @param statements in the order in which they were made
 * @returns the standing of each; and the first one that is replaced in part: its other days would have no bill
 */
export function judgeStatements<S extends Judged>(
  statements: readonly S[],
): { standings: Map<S, Standing>; torn: { statement: S; by: S } | undefined } {
  const standings = new Map<S, Standing>();
  const byDay = new Map<string, S[]>();
  const countedOn = (day: string, of: S) =>
    (byDay.get(`${of.provider} ${day}`) ?? []).filter(
      (one) => standings.get(one)?.isReplaced === false && isSameMoney(one, of),
    );
  for (const statement of statements) {
    const days = daysOf(statement);
    const before = [...new Set(days.flatMap((day) => countedOn(day, statement)))];
    const isWithin = before.every(({ from, until }) => from >= statement.from && until <= statement.until);
    const former =
      before.length > 0 && isWithin ? sum(before.map((one) => parseDecimal(one.amount_usd))) : null;
    for (const one of before)
      standings.set(one, { former: standings.get(one)?.former ?? null, isReplaced: true });
    standings.set(statement, { isReplaced: false, former });
    for (const day of days) {
      const key = `${statement.provider} ${day}`;
      const here = byDay.get(key);
      if (here) here.push(statement);
      else byDay.set(key, [statement]);
    }
  }
  for (const [statement, { isReplaced }] of standings) {
    if (!isReplaced) continue;
    const perDay = daysOf(statement).map((day) => countedOn(day, statement));
    const by = perDay.find((counted) => counted.length > 0)?.[0];
    if (by && perDay.some((counted) => counted.length === 0)) return { standings, torn: { statement, by } };
  }
  return { standings, torn: undefined };
}

/** Whether a statement says another amount than what counted before it. */
export const isChange = ({ former }: Standing, { amount_usd: amount }: Judged): boolean =>
  former !== null && compare(former, parseDecimal(amount)) !== 0;
