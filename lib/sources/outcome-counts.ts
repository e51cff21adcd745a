import type { SourceOutcome } from "@/lib/contract/sources/sources";

/** The number of an emitter's records with an outcome. `by`: its reason, see `SourceOutcome`; empty for none. */
export type OutcomeCount = { emitter: string; outcome: SourceOutcome; by: string; count: number };

/** The emitter of a record that could not be read. */
export const unreadEmitter = "unknown";

/** Counts the outcomes of records that report usage. Each record is counted once. */
export class OutcomeCounts {
  readonly #rows = new Map<string, OutcomeCount>();

  add(emitter: string, outcome: SourceOutcome, by = "", count = 1): void {
    const name = `${emitter}\n${outcome}\n${by}`;
    const known = this.#rows.get(name);
    if (known) known.count += count;
    else this.#rows.set(name, { emitter, outcome, by, count });
  }

  list(): OutcomeCount[] {
    return [...this.#rows.values()];
  }
}

/** The remarks of an answer about records that were not recorded: those without counts, and those that no rule understands. */
export function lossesIn(account: readonly OutcomeCount[]): string[] {
  const countOf = (wanted: SourceOutcome) =>
    account.reduce((sum, { outcome, count }) => sum + (outcome === wanted ? count : 0), 0);
  const [without, strange] = [countOf("without_counts"), countOf("not_understood")];
  return [
    ...(without > 0 ? [`Not recorded, because they have no counts of tokens: ${without}.`] : []),
    ...(strange > 0
      ? [`Not recorded, because no known emitter reports its counts as these records do: ${strange}.`]
      : []),
  ];
}
