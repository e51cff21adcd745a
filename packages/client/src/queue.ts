/**
 * A message that waits. `number` rises from one to the next. `text` is the request as it is sent, every time the same. `isOwnTime`: the client, not the
 * caller, said when the cost occurred. `mayExist`: somebody else may have recorded it under its key already. `reservationId`: what it
 * settles.
 */
export type Entry = {
  number: number;
  text: string;
  bytes: number;
  isOwnTime: boolean;
  mayExist: boolean;
  reservationId?: string | undefined;
};

/** The JSON around and between the messages of a bulk request. */
const wrapper = '{"messages":[]}'.length;
const comma = 1;

/** Messages in the order in which they were recorded, within a number and a size. */
export class Queue {
  #entries: Entry[] = [];
  #bytes = 0;

  constructor(
    private readonly maxEntries: number,
    private readonly maxBytes: number,
  ) {}

  get length(): number {
    return this.#entries.length;
  }

  /** Whether a message with this number, or an earlier one, waits. */
  hasUpTo(number: number): boolean {
    const [first] = this.#entries;
    return first !== undefined && first.number <= number;
  }

  /** Adds a message at the end. @returns false where the queue is full */
  push(entry: Entry): boolean {
    if (this.length >= this.maxEntries || this.#bytes + entry.bytes > this.maxBytes) return false;
    this.#entries.push(entry);
    this.#bytes += entry.bytes;
    return true;
  }

  /** The first messages, as many as fit into a body. At least one. They stay in the queue until `replace`. */
  first(maxEntries: number, maxBytes: number): Entry[] {
    let size = wrapper;
    const end = this.#entries.findIndex(({ bytes }, index) => {
      size += bytes + comma;
      return index > 0 && (index >= maxEntries || size > maxBytes);
    });
    return this.#entries.slice(0, end < 0 ? undefined : end);
  }

  /** Replaces the first `count` messages by those of them that have to be sent again. */
  replace(count: number, again: Entry[]): void {
    for (const { bytes } of this.#entries.splice(0, count, ...again)) this.#bytes -= bytes;
    for (const { bytes } of again) this.#bytes += bytes;
  }
}
