/**
 * Collects items that arrive during a write and writes them together (group commit). An item that arrives while nothing is being written
 * is written immediately. A group has a fixed cost, as high as that of many items, so two small groups cost far more than one: with
 * `secondGroup`, a second group is written at the same time only once it is large, and with `returning`, callers that were answered together
 * are written together again.
 */
export class Batcher<Item, Result> {
  #queue: Waiting<Item, Result>[] = [];
  #queuedWeight = 0;
  #inFlight = 0;
  #timer: NodeJS.Timeout | undefined;
  /** After a group was answered: how many items are expected to wait soon, and until when the next group waits for them. */
  #expected = { items: 0, untilMs: 0 };

  /**
   * @param options.write writes a group, in order, and returns one result for each item; throws only if nothing was written
   * @param options.weigh the weight of an item, which counts towards the limits of a group and of the queue
   * @param options.overflow the error for an item that finds the queue full
   */
  constructor(
    private readonly options: {
      write: (items: Item[]) => Promise<Result[]>;
      weigh: (item: Item) => number;
      overflow: () => Error;
      maxGroupWeight: number;
      maxInFlight: number;
      /**
       * `weight`: how large a group must be to be written at the same time as another. `maxWaitMs`: how long an item waits for that at
       * most, so that a delayed write (by a lock, for example) does not delay the others. By default, items do not wait.
       */
      secondGroup?: {
        weight: number;
        maxWaitMs: number;
        /**
         * After a group of at least `items`, the next group waits until as many items are queued as were written and queued then, because
         * callers that send one item after another return together. It waits no longer than that group took and than `maxWaitMs`, and
         * not at all once it is large. By default, groups do not wait.
         */
        returning?: { items: number; maxWaitMs: number };
      };
      maxQueuedWeight: number;
    },
  ) {}

  /** The weight of the queued items. */
  get queuedWeight(): number {
    return this.#queuedWeight;
  }

  /** How long the first item in the queue has waited, ms. */
  get queueAgeMs(): number {
    const [first] = this.#queue;
    return first ? performance.now() - first.addedMs : 0;
  }

  /** Resolves with the item's result once its group is written. @throws options.overflow's error, or that of the write */
  add(item: Item): Promise<Result> {
    const weight = this.options.weigh(item);
    if (this.#queuedWeight + weight > this.options.maxQueuedWeight)
      return Promise.reject(this.options.overflow());
    return new Promise((resolve, reject) => {
      this.#queue.push({ item, weight, addedMs: performance.now(), resolve, reject });
      this.#queuedWeight += weight;
      // Requests whose bodies are parsed in this same turn of the event loop join the group.
      if (this.#queue.length === 1) setImmediate(() => this.#fill());
      else if (this.#timer && this.#waitMs() <= 0) this.#fill();
    });
  }

  #fill(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#inFlight < this.options.maxInFlight && this.#queue.length > 0) {
      const waitMs = this.#waitMs();
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.#fill(), Math.ceil(waitMs));
        return;
      }
      this.#inFlight += 1;
      void this.#writeGroup(this.#takeGroup());
    }
  }

  /** How long the queue waits to become larger, ms; zero or less if it does not wait. */
  #waitMs(): number {
    const { secondGroup } = this.options;
    if (!secondGroup || this.#queuedWeight >= secondGroup.weight) return 0;
    if (this.#inFlight > 0) return secondGroup.maxWaitMs - this.queueAgeMs;
    const { items, untilMs } = this.#expected;
    return this.#queue.length < items ? untilMs - performance.now() : 0;
  }

  /** Takes as many items from the front of the queue as fit into a group; at least one. */
  #takeGroup(): Waiting<Item, Result>[] {
    let weight = 0;
    let end = this.#queue.findIndex((waiting, index) => {
      weight += waiting.weight;
      return index > 0 && weight > this.options.maxGroupWeight;
    });
    if (end < 0) end = this.#queue.length;
    const group = this.#queue.slice(0, end);
    this.#queue = this.#queue.slice(end);
    for (const waiting of group) this.#queuedWeight -= waiting.weight;
    return group;
  }

  async #writeGroup(group: Waiting<Item, Result>[]): Promise<void> {
    const begunMs = performance.now();
    try {
      const results = await this.options.write(group.map(({ item }) => item));
      group.forEach(({ resolve, reject }, index) => {
        const result = results[index];
        if (result === undefined) reject(new Error("A write answered fewer results than it had items."));
        else resolve(result);
      });
    } catch (error) {
      for (const { reject } of group) reject(error);
    } finally {
      this.#inFlight -= 1;
      this.#expectReturn(group.length, begunMs);
      this.#fill();
    }
  }

  #expectReturn(written: number, begunMs: number): void {
    const returning = this.options.secondGroup?.returning;
    if (!returning || written < returning.items) return;
    const nowMs = performance.now();
    const untilMs = nowMs + Math.min(nowMs - begunMs, returning.maxWaitMs);
    this.#expected = { items: written + this.#queue.length, untilMs };
  }
}

type Waiting<Item, Result> = {
  item: Item;
  weight: number;
  /** When it was added, by `performance.now()`. */
  addedMs: number;
  resolve: (result: Result) => void;
  reject: (reason: unknown) => void;
};
