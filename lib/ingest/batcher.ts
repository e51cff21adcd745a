/**
 * Gathers items that arrive while a write is under way and writes them together (group commit). A lone item is written
 * at once: nothing ever waits for company, only for a free place among the writes in flight.
 */
export class Batcher<Item, Result> {
  readonly #queue: { item: Item; resolve: (result: Result) => void; reject: (reason: unknown) => void }[] =
    [];
  #inFlight = 0;

  /**
   * @param options.write writes a group, in order, and answers one result an item; throws only when nothing was written
   * @param options.overflow the error of an item that finds the queue full
   */
  constructor(
    private readonly options: {
      write: (items: Item[]) => Promise<Result[]>;
      overflow: () => Error;
      maxGroup: number;
      maxInFlight: number;
      maxQueued: number;
    },
  ) {}

  /** Resolves with the item's result once its group is written. @throws options.overflow's error, or that of the write */
  add(item: Item): Promise<Result> {
    if (this.#queue.length >= this.options.maxQueued) return Promise.reject(this.options.overflow());
    return new Promise((resolve, reject) => {
      this.#queue.push({ item, resolve, reject });
      // Requests whose bodies are parsed in this same turn of the event loop join the group.
      if (this.#queue.length === 1) setImmediate(() => this.#fill());
    });
  }

  #fill(): void {
    while (this.#inFlight < this.options.maxInFlight && this.#queue.length > 0) {
      this.#inFlight += 1;
      void this.#writeGroup(this.#queue.splice(0, this.options.maxGroup));
    }
  }

  async #writeGroup(
    group: { item: Item; resolve: (result: Result) => void; reject: (reason: unknown) => void }[],
  ): Promise<void> {
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
      this.#fill();
    }
  }
}
