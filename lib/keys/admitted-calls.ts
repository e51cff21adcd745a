import type { LoadedKey } from "./admission-queries";
import { rateWindowMs } from "./decide";

/**
 * Counts the admitted calls of rate-limited keys while a group is decided. Each call is decided with the earlier calls of the group
 * counted, so that a limit holds within a group as it does between groups.
 */
export class AdmittedCalls {
  readonly #counts = new Map<LoadedKey, number>();

  /** @param now the database's time in milliseconds since 1970 */
  constructor(private readonly now: number) {}

  add(loaded: LoadedKey): void {
    const { window } = loaded.usage;
    window.used += 1;
    window.freesAt ??= this.now + rateWindowMs;
    this.#counts.set(loaded, (this.#counts.get(loaded) ?? 0) + 1);
  }

  /** The number of admitted calls of each key, for `recordAdmissionsStatement`. */
  list(): { loaded: LoadedKey; admitted: number }[] {
    return [...this.#counts].map(([loaded, admitted]) => ({ loaded, admitted }));
  }
}
