import { compare, type Decimal, sum, zero } from "@/lib/decimal";
import { groupBy } from "@/lib/group-by";
import { totalOf } from "./explain";
import type { Cell } from "./match";

/** A provider's key whose usage no source reports, with its billed amount and the period of its bills. */
export type UnseenKey = { provider: string; key: string; amount: Decimal; from: string; until: string };

/**
 * Finds the provider keys whose usage no source reports: in every period and model, the key's billed amount is at most the unrecorded
 * amount. If such keys together exceed the unrecorded amount, they cannot be told apart and none is returned.
 * @returns the keys, the most expensive first
 */
export function findUnseenKeys(cells: readonly Cell[]): UnseenKey[] {
  return [...groupBy(cells, ({ provider }) => provider)]
    .flatMap(([provider, own]) => {
      const uses = own.flatMap((cell) =>
        [...groupBy(cell.facts, ({ key }) => key)].flatMap(([key, facts]) =>
          key === null ? [] : [{ key, cell, amount: totalOf(facts) }],
        ),
      );
      const unseen = [...groupBy(uses, ({ key }) => key)].filter(([, ofKey]) =>
        ofKey.every(({ cell, amount }) => compare(amount, zero) > 0 && compare(amount, cell.untold) <= 0),
      );
      const isOne = own.every(
        (cell) =>
          compare(
            sum(
              unseen.flatMap(([, ofKey]) =>
                ofKey.filter((use) => use.cell === cell).map(({ amount }) => amount),
              ),
            ),
            cell.untold,
          ) <= 0,
      );
      if (!isOne) return [];
      return unseen.map(([key, ofKey]) => ({
        ...{ provider, key, amount: totalOf(ofKey) },
        from: ofKey.map(({ cell }) => cell.from).sort()[0] ?? "",
        until:
          ofKey
            .map(({ cell }) => cell.until)
            .sort()
            .at(-1) ?? "",
      }));
    })
    .sort((a, b) => compare(b.amount, a.amount) || (a.key < b.key ? -1 : 1));
}
