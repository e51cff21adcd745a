/** Why a database call was given up. */
export type GivenUp = "slow" | "silent";

/** A running database call. */
type Call = {
  startedMs: number;
  deadlineMs: number;
  givenUp: GivenUp | undefined;
  /** Called once, when the call is given up. */
  onGivenUp: (reason: GivenUp) => void;
};

/**
 * How often calls are checked. If a check comes four times as late, the process was blocked, and the check is skipped.
 */
const tickMs = 250;
/** A call that takes longer causes a probe of the database. */
const overdueMs = 750;
/** How often a silent database is probed again. */
const recoverMs = 500;

/**
 * Watches every database call and gives up those past their deadline. When a call takes long, the watch probes the
 * database on a connection of its own. If the database answers the probe, it is busy, and the call goes on. If it neither
 * answers nor finishes any other call, it counts as silent: all calls are given up at once, and new ones are refused
 * immediately, until it answers again.
 */
export class Watch {
  readonly #calls = new Set<Call>();
  #timer: NodeJS.Timeout | undefined;
  #lastTickMs = 0;
  #askAgainMs = 0;
  #finished = 0;
  #silent = false;

  /** @param ask sends a probe; resolves if the database answers in time, rejects otherwise */
  constructor(private readonly ask: () => Promise<unknown>) {}

  /** Whether the database did not answer the last probe. */
  get isSilent(): boolean {
    return this.#silent;
  }

  /** Starts watching a call. End it with `finish`. @param limitMs how long the call may take in total */
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

  /** Stops watching a call that the database answered. */
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
    // While the process was blocked, answers may have arrived that it has not read yet.
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

  /** Gives a call up. Unlike `finish`, it does not count as a sign that the database answers. */
  #giveUp(call: Call, reason: GivenUp): void {
    this.#calls.delete(call);
    call.givenUp = reason;
    call.onGivenUp(reason);
  }
}

export type { Call as WatchedCall };
