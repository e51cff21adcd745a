/** As many callers as allowed are waiting already. */
export class FullError extends Error {}

/**
 * A semaphore: a limited number of callers run at once; the others wait in order of arrival, up to a bound. Each caller
 * that entered must call `leave` exactly once, also after a failure.
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

  /** Whether no caller runs or waits. */
  get isIdle(): boolean {
    return this.#running === 0;
  }

  /** Waits for a place. @throws FullError at once where too many are waiting */
  async enter(): Promise<void> {
    if (this.#running < this.atOnce) {
      this.#running += 1;
      return;
    }
    if (this.isFull) throw new FullError("Too many are waiting.");
    // `leave` passes its place to the first that waits, so #running does not change.
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Gives the place to the first caller that waits. */
  leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running -= 1;
  }
}
