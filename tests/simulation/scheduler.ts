import { createHash } from "node:crypto";
import type pg from "pg";
import type { Random } from "./random";

/** A simulated process, as far as the scheduler is concerned. */
type Owner = { readonly name: string; isDead: boolean };

/** Something that may happen next. `run` resolves when it has happened. `owner` is null for clients. */
type Action = { owner: Owner | null; label: string; run: () => Promise<void> };

/**
 * A statement that was sent and whose result was not handed over. It `isBlocked` while it waits for a lock; `handOver` is there once
 * Postgres has answered.
 */
type Flight = { client: pg.Client; owner: Owner; isBlocked: boolean; looks: number; handOver?: () => void };

export type Timer = { owner: Owner | null; at: number; run: () => void; everyMs: number | undefined };

/**
 * Decides what happens next. Whatever reaches beyond a process (a statement, a request, an answer, a timer) is an action; actions happen one
 * after another, in an order that the seed determines. A statement that waits for a lock stays in flight, and others go on.
 */
export class Scheduler {
  /** The time of the simulation, milliseconds since 1970. */
  now: number;
  steps = 0;
  /** The last actions, for the report of a failure. */
  readonly trace: string[] = [];
  readonly ready: Action[] = [];
  readonly timers = new Set<Timer>();
  readonly flights = new Set<Flight>();
  /** Numbers of backends whose connections were closed and that may still hold locks. */
  readonly leaving = new Set<number>();
  /** How many operations are pending that are neither statements nor timers: connecting, signing, the statements of checks. */
  computing = 0;
  /** A process that stands still, as one does whose machine is busy, and the step until which it does. */
  #standing: { owner: Owner; until: number } | undefined;
  #clockInDatabase = 0;
  /** Whether a transaction ended since the last look at which statements still wait for a lock. */
  #wasReleased = false;
  #order = createHash("sha256");
  #lastBusy: Promise<unknown> = Promise.resolve();
  #wake = (): void => {};

  constructor(
    readonly random: Random,
    readonly monitor: pg.Pool,
    start: number,
  ) {
    this.now = start;
  }

  /** Makes an action of a process ready; resolves with its result once it has happened. Nothing happens to a dead process. */
  step<T>(owner: Owner | null, label: string, run: () => Promise<T> | T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.ready.push({
        owner,
        label,
        run: async () => {
          try {
            const result = await run();
            if (!owner?.isDead) resolve(result);
          } catch (error) {
            if (!owner?.isDead) reject(error);
          }
        },
      });
    });
  }

  /** Like `busy`, for work that is done outside of this thread: results are handed over in the order in which it began. */
  inOrder<T>(run: () => Promise<T>): Promise<T> {
    return this.busy(() => {
      const [before, work] = [this.#lastBusy, run()];
      this.#lastBusy = work.then(
        () => before,
        () => before,
      );
      return this.#lastBusy.then(() => work);
    });
  }

  /** Lets a process stand still for some steps, while others go on. */
  stand(owner: Owner, steps: number): void {
    this.note(`${owner.name} stands still`);
    this.#standing = { owner, until: this.steps + steps };
  }

  /** Has the scheduler wait for what is neither a statement nor a timer. */
  async busy<T>(run: () => Promise<T>): Promise<T> {
    this.computing += 1;
    try {
      return await run();
    } finally {
      this.computing -= 1;
      this.#wake();
    }
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.timers.add({ owner: null, at: this.now + ms, run: resolve, everyMs: undefined });
    });
  }

  /** Lets time pass, in the database too. */
  async advance(ms: number): Promise<void> {
    this.now += ms;
    await this.setClock();
  }

  async setClock(): Promise<void> {
    if (this.#clockInDatabase === this.now) return;
    this.#clockInDatabase = this.now;
    await this.monitor.query("update test_clock.present set at = $1", [new Date(this.now)]);
  }

  /** Lets one action happen. @returns whether there was one, or a timer to wait for */
  async act(): Promise<boolean> {
    if (this.ready.length === 0) await this.settle();
    const possible = [...this.ready, ...[...this.timers].filter(({ at }) => at <= this.now)];
    if (possible.length === 0) return this.#awaitTimer();
    const standing = this.#standing && this.#standing.until > this.steps ? this.#standing.owner : undefined;
    const moving = possible.filter(({ owner }) => owner === null || owner !== standing);
    const action = this.random.pick(moving.length > 0 ? moving : possible);
    if ("at" in action) {
      this.fire(action);
    } else {
      this.ready.splice(this.ready.indexOf(action), 1);
      this.note(`${action.owner?.name ?? "client"}: ${action.label}`);
      void action.run();
    }
    this.steps += 1;
    await this.settle();
    return true;
  }

  /** What happened so far, as eight letters that are equal where everything happened in the same order. */
  get order(): string {
    return this.#order.copy().digest("hex").slice(0, 8);
  }

  note(what: string): void {
    this.#order.update(`${this.now} ${what}\n`);
    this.trace.push(`${new Date(this.now).toISOString()} ${what}`);
    if (this.trace.length > 400) this.trace.shift();
  }

  fire(timer: Timer): void {
    if (timer.everyMs === undefined) this.timers.delete(timer);
    else timer.at = this.now + timer.everyMs;
    timer.run();
  }

  async #awaitTimer(): Promise<boolean> {
    const next = [...this.timers].sort((a, b) => a.at - b.at)[0];
    if (!next && this.flights.size > 0) throw new Error("Statements wait for locks that nothing releases.");
    if (!next) return false;
    if (next.at > this.now) await this.advance(next.at - this.now);
    this.fire(next);
    this.steps += 1;
    await this.settle();
    return true;
  }

  /** Sends a statement. Its result is handed over by `settle`. */
  async fly<T>(owner: Owner, client: pg.Client, send: () => Promise<T>): Promise<T> {
    const flight: Flight = { owner, client, isBlocked: false, looks: 0 };
    this.flights.add(flight);
    const answered = async () => {
      // Others may have waited for its locks, which it keeps until its transaction ends or fails.
      if (!isInTransaction(client)) this.#wasReleased = true;
      await new Promise<void>((resolve) => {
        flight.handOver = resolve;
        this.#wake();
      });
    };
    const sent = send();
    await sent.then(answered, answered);
    return sent;
  }

  /**
   * Waits until every process waits for an action, and every statement in flight for a lock. Statements that end meanwhile are handed
   * over when all have ended or wait, in the order in which they were sent, so that it does not matter which of them is faster.
   */
  async settle(): Promise<void> {
    for (;;) {
      await this.#rest();
      const ended = [...this.flights].filter(({ handOver }) => handOver);
      if (ended.length === 0) return;
      for (const flight of ended) {
        this.flights.delete(flight);
        flight.handOver?.();
        await this.#turn();
      }
    }
  }

  /** Waits until every statement in flight has ended or waits for a lock, and nothing else is under way. */
  async #rest(): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      await this.#turn();
      const running = [...this.flights].filter(({ isBlocked, handOver }) => !isBlocked && !handOver);
      if (running.length === 0 && this.leaving.size === 0 && this.computing === 0) {
        if (await this.#resumeNext()) continue;
        return;
      }
      if (tries > 20_000) throw new Error("A statement takes too long.");
      const isKnown = running.length > 0 && running.every(({ looks }) => looks > 0);
      const isSeen = running.length > 0 || this.leaving.size > 0;
      if (isKnown || !(await this.#isWoken())) await (isSeen && this.#look(running));
    }
  }

  /**
   * Lets one statement go on whose lock was released. Until then its backend is halted, so that the seed and not the machine decides
   * which of several that one transaction has kept waiting comes first. @returns whether there was one
   */
  async #resumeNext(): Promise<boolean> {
    if (!this.#wasReleased) return false;
    const backends = await this.#askBackends();
    for (const flight of this.flights) {
      const pid = pidOf(flight.client);
      if (!flight.isBlocked || backends.get(pid)?.blockers.length) continue;
      Object.assign(flight, { isBlocked: false, looks: 0 });
      resume(pid);
      return true;
    }
    this.#wasReleased = false;
    return false;
  }

  /** Halts a backend that waits for a lock. @returns whether it did: not while the backend holds one of Postgres' own locks */
  async #halt(pid: number): Promise<boolean> {
    process.kill(pid, "SIGSTOP");
    halted.add(pid);
    const asked = this.monitor.query("select pg_blocking_pids($1)", [pid]).then(() => true);
    const late = new Promise<false>((resolve) => setTimeout(resolve, 200, false));
    const isHalted = await Promise.race([asked, late]);
    if (!isHalted) resume(pid);
    return asked.then(() => isHalted);
  }

  /** Waits until something ends, for two milliseconds. @returns whether it did */
  #isWoken(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), 2);
      this.#wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }

  async #turn(): Promise<void> {
    for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Finds out which statements wait for a lock, and which backends have ended. */
  async #look(running: Flight[]): Promise<void> {
    const backends = await this.#askBackends();
    for (const flight of running) {
      const pid = pidOf(flight.client);
      flight.looks = isBlocked(pid, backends) ? flight.looks + 1 : 0;
      // Twice, because a backend says that it is idle before it has released its locks.
      flight.isBlocked = flight.looks >= 2 && !flight.handOver && (await this.#halt(pid));
    }
    for (const pid of this.leaving) {
      if (backends.has(pid)) continue;
      this.leaving.delete(pid);
      this.#wasReleased = true;
    }
  }

  async #askBackends(): Promise<Map<number, Backend>> {
    const { rows } = await this.monitor.query<Backend>(
      `select pid, coalesce(state, '') as state, case when wait_event_type = 'Lock' then pg_blocking_pids(pid) else '{}' end as blockers
       from pg_stat_activity where datname = current_database()`,
    );
    return new Map(rows.map((backend) => [backend.pid, backend]));
  }
}

/** Backends that were halted and not resumed. */
const halted = new Set<number>();
process.on("exit", () => halted.forEach(resume));

/** Lets a backend go on that may have been halted. */
export function resume(pid: number): void {
  if (halted.delete(pid)) process.kill(pid, "SIGCONT");
}

/** A connection as Postgres sees it. */
type Backend = { pid: number; state: string; blockers: number[] };

/**
 * Whether a backend waits for a lock of a transaction that goes on only when its process does, or when it is resumed. One that waits for
 * a statement which still runs will soon be answered; so will one that waits, by way of others, for itself: Postgres ends deadlocks.
 */
function isBlocked(pid: number, backends: Map<number, Backend>, path: number[] = []): boolean {
  const { blockers = [] } = backends.get(pid) ?? {};
  if (path.includes(pid)) return false;
  if (blockers.length === 0) return path.length > 0 && halted.has(pid);
  return blockers.some(
    (blocker) =>
      backends.get(blocker)?.state.startsWith("idle in transaction") ||
      isBlocked(blocker, backends, [...path, pid]),
  );
}

/** Whether a transaction of a connection goes on: it has neither ended nor failed. */
export const isInTransaction = (client: pg.Client): boolean =>
  (client as unknown as { getTransactionStatus(): string | null }).getTransactionStatus() === "T";

/** The number of a connection's backend. */
export const pidOf = (client: pg.Client): number => (client as unknown as { processID: number }).processID;
