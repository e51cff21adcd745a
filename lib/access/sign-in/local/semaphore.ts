/** As many callers as allowed are waiting already. */
export class FullError extends Error {}

/**
 * A semaphore: a limited number of callers run at once; the others wait in order of arrival, up to a bound. Each caller
 * that acquired a place must call `release` exactly once, also after a failure.
 */
export class Semaphore {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(
    private readonly atOnce: number,
    private readonly maxWaiting: number,
  ) {}

  /** Whether `acquire` would be refused now. */
  get isFull(): boolean {
    return this.#running >= this.atOnce && this.#waiting.length >= this.maxWaiting;
  }

  /** Whether no caller runs or waits. */
  get isIdle(): boolean {
    return this.#running === 0;
  }

  /** Waits for a place. @throws FullError at once where too many are waiting */
  async acquire(): Promise<void> {
    if (this.#running < this.atOnce) {
      this.#running += 1;
      return;
    }
    if (this.isFull) throw new FullError("Too many are waiting.");
    // `release` passes its place to the first that waits, so #running does not change.
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Gives the place to the first caller that waits. */
  release(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running -= 1;
  }
}
