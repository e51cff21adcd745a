/** Nobody waits any more: as many as may are waiting already. */
export class FullError extends Error {}

/**
 * Lets a few run at once; the others wait, in the order in which they came, up to a bound.
 * Whoever entered leaves once, whatever became of it.
 */
export class Turns {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(
    private readonly atOnce: number,
    private readonly maxWaiting: number,
  ) {}

  /** Whether `enter` would be refused now. */
  get isFull(): boolean {
    return this.#running >= this.atOnce && this.#waiting.length >= this.maxWaiting;
  }

  /** Whether nobody runs or waits. */
  get isIdle(): boolean {
    return this.#running === 0;
  }

  /** @throws FullError at once, where too many are waiting */
  async enter(): Promise<void> {
    if (this.#running < this.atOnce) {
      this.#running += 1;
      return;
    }
    if (this.isFull) throw new FullError("Too many are waiting.");
    // Whoever leaves hands their place on.
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running -= 1;
  }
}
