/** Why a database call was given up. */
export type GivenUp = "slow" | "silent";

/** A database call under way. */
type Call = {
  startedMs: number;
  deadlineMs: number;
  givenUp: GivenUp | undefined;
  /** Called once, when the call is given up. */
  onGivenUp: (reason: GivenUp) => void;
};

/**
 * How often calls are checked. After a pause of four times as long, the process itself was held up, and no call is
 * judged.
 */
const tickMs = 250;
/** A call that takes longer makes the watch probe the database. */
const overdueMs = 750;
/** How often a silent database is probed again. */
const recoverMs = 500;

/**
 * Watches every database call. A call past its deadline is given up. When a call takes long, the database is probed on
 * a connection of its own. A database that answers is busy, and the call goes on. A database that neither answers nor
 * finishes any other call is silent: all calls are given up at once, and new ones refused without waiting, until it
 * answers again.
 */
export class Watch {
  readonly #calls = new Set<Call>();
  #timer: NodeJS.Timeout | undefined;
  #lastTickMs = 0;
  #askAgainMs = 0;
  #finished = 0;
  #silent = false;

  /** @param ask resolves where the database answers in time; rejects where it does not */
  constructor(private readonly ask: () => Promise<unknown>) {}

  /** Whether the database did not answer the last probe. */
  get isSilent(): boolean {
    return this.#silent;
  }

  /** Starts watching a call. `finish` ends it. @param limitMs how long the call may take in all */
  begin(limitMs: number): Call {
    const startedMs = performance.now();
    const call: Call = {
      startedMs,
      deadlineMs: startedMs + limitMs,
      givenUp: undefined,
      onGivenUp: () => {},
    };
    this.#calls.add(call);
    if (this.#silent) this.#giveUp(call, "silent");
    this.#tickOn();
    return call;
  }

  finish(call: Call): void {
    if (this.#calls.delete(call)) this.#finished += 1;
  }

  #tickOn(): void {
    if (this.#timer) return;
    this.#lastTickMs = performance.now();
    this.#timer = setInterval(() => this.#tick(), tickMs).unref();
  }

  #tick(): void {
    const now = performance.now();
    const wasHeldUp = now - this.#lastTickMs > 4 * tickMs;
    this.#lastTickMs = now;
    if (this.#calls.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    // Answers may have arrived without having been read.
    if (wasHeldUp) return;
    let oldestMs = now;
    for (const call of this.#calls) {
      if (now >= call.deadlineMs) this.#giveUp(call, "slow");
      else oldestMs = Math.min(oldestMs, call.startedMs);
    }
    if (!this.#silent && now - oldestMs > overdueMs && now >= this.#askAgainMs) void this.#askWhetherThere();
  }

  async #askWhetherThere(): Promise<void> {
    this.#askAgainMs = Number.POSITIVE_INFINITY;
    const finished = this.#finished;
    const answers = await this.ask().then(
      () => true,
      () => false,
    );
    this.#askAgainMs = performance.now() + overdueMs;
    if (answers || this.#finished > finished || this.#silent) return;
    this.#silent = true;
    for (const call of this.#calls) this.#giveUp(call, "silent");
    this.#awaitAnswer();
  }

  #awaitAnswer(): void {
    setTimeout(async () => {
      const answers = await this.ask().then(
        () => true,
        () => false,
      );
      if (answers) this.#silent = false;
      else this.#awaitAnswer();
    }, recoverMs).unref();
  }

  /** Not `finish`: a call that was given up does not show that the database answers. */
  #giveUp(call: Call, reason: GivenUp): void {
    this.#calls.delete(call);
    call.givenUp = reason;
    call.onGivenUp(reason);
  }
}

export type { Call as WatchedCall };
