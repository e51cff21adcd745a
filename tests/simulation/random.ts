/** Random choices that one seed determines (the generator "mulberry32"). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number from 0 up to, and without, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `least` to `most`. */
  int(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  /** Whether something with this probability happens. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** One of a list. @throws Error if the list is empty */
  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new Error("There is nothing to choose from.");
    return list[this.int(0, list.length - 1)] as T;
  }

  /** The same JSON value with the members of its objects in another order. */
  shuffle(value: unknown): unknown {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => this.shuffle(item));
    const members = Object.entries(value).map(([name, of]) => [name, this.shuffle(of), this.next()] as const);
    return Object.fromEntries(members.sort((a, b) => a[2] - b[2]));
  }

  /** Fills bytes, as `crypto.randomFillSync` does. */
  fill<T extends NodeJS.ArrayBufferView>(view: T): T {
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    for (let index = 0; index < bytes.length; index += 1) bytes[index] = this.int(0, 255);
    return view;
  }

  /** A random UUID (version 4). */
  uuid(): string {
    const bytes = this.fill(Buffer.alloc(16));
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
    return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  }
}
