import { ServiceError, validationFailed } from "@/lib/errors";
import { Refusals, type Refused } from "@/lib/sources/decoded";

/**
 * The most records and attributes that are read of one export. The Collector sends 8,192 records at once by default; 8 MiB of real spans
 * are about 10,000 records with 200,000 attributes.
 */
export const exportBudget = { records: 20_000, attributes: 500_000 };

/** A value of a record cannot be read. The message names its place, not its content, which can be a prompt. */
export class BadValue extends Error {}

class BeyondBudget extends Error {}

/**
 * Limits the work for an export. A record that cannot be read is refused by itself; once the budget is used up, all further records are
 * refused.
 */
export class Intake {
  readonly #refusals = new Refusals();
  #records: number;
  #groups: number;
  #attributes: number;
  #isFull = false;
  #beyond = 0;

  constructor(private readonly budget = exportBudget) {
    this.#records = budget.records;
    this.#groups = budget.records;
    this.#attributes = budget.attributes;
  }

  /** Counts a resource, a scope or a metric. */
  takeGroup(): void {
    if (this.#groups === 0) this.#isFull = true;
    this.#groups -= 1;
  }

  /** Counts an attribute. @throws Error once the budget is used up; `readRecord` handles it */
  takeAttribute(): void {
    if (this.#attributes === 0) throw new BeyondBudget();
    this.#attributes -= 1;
  }

  /** Reads what the records of a group share. @returns an error if it cannot be read; then the records are refused, too */
  readShared<T>(read: () => T): { value: T } | { error: unknown } {
    try {
      return { value: read() };
    } catch (error) {
      return { error };
    }
  }

  /** Reads one record; undefined if it is refused. */
  readRecord<T>(read: () => T): T | undefined {
    if (this.#records === 0) this.#isFull = true;
    if (this.#isFull) {
      this.#beyond += 1;
      return undefined;
    }
    this.#records -= 1;
    try {
      return read();
    } catch (error) {
      if (error instanceof BeyondBudget) {
        this.#isFull = true;
        this.#beyond += 1;
        return undefined;
      }
      const message = error instanceof BadValue ? error.message : "cannot be read";
      this.#refusals.add(validationFailed([{ path: "record", message }]));
      return undefined;
    }
  }

  refused(): Refused[] {
    if (this.#beyond === 0) return this.#refusals.list();
    const { records, attributes } = this.budget;
    const error = new ServiceError(
      "payload_too_large",
      `One export may have ${records} records with ${attributes} attributes. Have the exporter send less at once.`,
    );
    return [{ error, count: this.#beyond }, ...this.#refusals.list()];
  }
}
