import { absolute, add, compare, type Decimal, subtract, zero } from "@/lib/decimal";
import { groupBy } from "@/lib/group-by";
import { personKeyOf } from "./read-row";

/** What was billed and recorded of a person at a provider, USD. `user`: null for what names nobody. */
export type UserSums = {
  provider: string;
  user: string | null;
  billed: Decimal;
  recorded: Decimal;
  adjusted: Decimal;
};

type Amount = { provider: string; user: string | null; amount: Decimal };

/**
 * Sums what was billed, recorded and adjusted by provider and person, of the providers whose bills name people. The rows of a provider
 * sum exactly to its amounts; those of one person have one spelling. Adjustments name nobody.
 * @returns by provider, the largest difference first
 */
export function sumByUser(
  billed: readonly Amount[],
  recorded: readonly Amount[],
  adjusted: readonly Omit<Amount, "user">[],
): UserSums[] {
  const named = new Set(billed.filter(({ user }) => user !== null).map(({ provider }) => provider));
  const rows = new Map<string, UserSums>();
  const addTo = (side: "billed" | "recorded" | "adjusted", { provider, user, amount }: Amount) => {
    if (!named.has(provider)) return;
    const person = user && personKeyOf(user);
    const key = JSON.stringify([provider, person]);
    const row = rows.get(key) ?? { provider, user: person, billed: zero, recorded: zero, adjusted: zero };
    rows.set(key, { ...row, [side]: add(row[side], amount) });
  };
  for (const one of billed) addTo("billed", one);
  for (const one of recorded) addTo("recorded", one);
  for (const one of adjusted) addTo("adjusted", { ...one, user: null });
  return [...rows.values()].sort(
    (a, b) =>
      (a.provider < b.provider ? -1 : a.provider > b.provider ? 1 : 0) ||
      compare(absolute(differenceOf(b)), absolute(differenceOf(a))) ||
      ((a.user ?? "") < (b.user ?? "") ? -1 : 1),
  );
}

const differenceOf = ({ billed, recorded, adjusted }: UserSums): Decimal =>
  subtract(billed, add(recorded, adjusted));

/** A row of people: a person, what names nobody, or those that a list leaves out. `count`: how many people it is of. */
export type UserRow = UserSums & { kind: "user" | "none" | "others"; count: number };

/** Rows of at most some people of each provider, then what names nobody, then one row of the people that are left. */
export function toUserRows(sums: readonly UserSums[], atMost: number): UserRow[] {
  return [...groupBy(sums, ({ provider }) => provider).values()].flatMap((own) => {
    const people = own.filter(({ user }) => user !== null);
    const none = own.filter(({ user }) => user === null);
    const [first, ...others] = people.slice(atMost);
    return [
      ...people.slice(0, atMost).map((row) => ({ ...row, kind: "user" as const, count: 1 })),
      ...none.map((row) => ({ ...row, kind: "none" as const, count: 0 })),
      ...(first
        ? [{ ...others.reduce(plus, first), user: null, kind: "others" as const, count: others.length + 1 }]
        : []),
    ];
  });
}

const plus = (a: UserSums, b: UserSums): UserSums => ({
  ...a,
  billed: add(a.billed, b.billed),
  recorded: add(a.recorded, b.recorded),
  adjusted: add(a.adjusted, b.adjusted),
});
