import { setTimeout as pause } from "node:timers/promises";
import type pg from "pg";
import type { Random } from "./random";

/** A simulated process, as far as the scheduler is concerned. */
type Owner = { readonly name: string; isDead: boolean };

/** Something that may happen next. `run` resolves when it has happened. `owner` is null for clients. */
type Action = { owner: Owner | null; label: string; run: () => Promise<void> };

/** A statement that was sent and not answered. It is `blocked` while it waits for a lock. */
type Flight = { owner: Owner; client: pg.Client; done: boolean; isBlocked: boolean; looks: number };

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
  #clockInDatabase = 0;
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
    const due = [...this.timers].filter(({ at }) => at <= this.now);
    const count = this.ready.length + due.length;
    if (count === 0) return this.#awaitTimer();
    const chosen = this.random.int(0, count - 1);
    if (chosen >= this.ready.length) {
      this.fire(due[chosen - this.ready.length] as Timer);
    } else {
      const [action] = this.ready.splice(chosen, 1);
      this.note(`${action?.owner?.name ?? "client"}: ${action?.label}`);
      void action?.run();
    }
    this.steps += 1;
    await this.settle();
    return true;
  }

  note(what: string): void {
    this.trace.push(`${new Date(this.now).toISOString()} ${what}`);
    if (this.trace.length > 400) this.trace.shift();
  }

  fire(timer: Timer): void {
    if (timer.everyMs === undefined) this.timers.delete(timer);
    else timer.at = this.now + timer.everyMs;
    timer.run();
  }

  async #awaitTimer(): Promise<boolean> {
    if (this.flights.size > 0) {
      // All wait for locks: Postgres ends a deadlock by itself.
      const before = this.flights.size;
      for (let tries = 0; tries < 400 && this.flights.size === before; tries += 1) {
        await pause(5);
        await this.settle();
      }
      if (this.flights.size === before && this.ready.length === 0)
        throw new Error("Statements wait for each other without end.");
      return true;
    }
    const next = [...this.timers].sort((a, b) => a.at - b.at)[0];
    if (!next) return false;
    if (next.at > this.now) await this.advance(next.at - this.now);
    this.fire(next);
    this.steps += 1;
    await this.settle();
    return true;
  }

  /** A statement in flight, from when it is sent. */
  async fly<T>(owner: Owner, client: pg.Client, send: () => Promise<T>): Promise<T> {
    const flight: Flight = { owner, client, done: false, isBlocked: false, looks: 0 };
    this.flights.add(flight);
    try {
      return await send();
    } finally {
      flight.done = true;
      this.flights.delete(flight);
      this.#wake();
    }
  }

  /** Waits until every process waits for an action, and every statement in flight for a lock. */
  async settle(): Promise<void> {
    // The last step may have released the lock that a statement waits for.
    for (const flight of this.flights)
      if (flight.isBlocked) Object.assign(flight, { isBlocked: false, looks: 1 });
    for (let tries = 0; ; tries += 1) {
      await this.#turn();
      const running = [...this.flights].filter(({ isBlocked }) => !isBlocked);
      if (running.length === 0 && this.leaving.size === 0 && this.computing === 0) return;
      if (tries > 20_000) throw new Error("A statement takes too long.");
      const isKnown = running.length > 0 && running.every(({ looks }) => looks > 0);
      if (isKnown || !(await this.#isWoken())) await this.#look(running);
    }
  }

  /** Waits until something ends, for a few milliseconds. @returns whether it did */
  #isWoken(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), 4);
      this.#wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }

  async #turn(): Promise<void> {
    for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Asks Postgres which statements wait for a lock, and which backends have ended. */
  async #look(running: Flight[]): Promise<void> {
    const pids = running.map(({ client }) => pidOf(client));
    const { rows } = await this.monitor.query<{ pid: number; blocked: boolean }>(
      `select pid, cardinality(pg_blocking_pids(pid)) > 0 as blocked from pg_stat_activity
       where pid = any ($1) or pid = any ($2)`,
      [pids, [...this.leaving]],
    );
    const alive = new Map(rows.map(({ pid, blocked }) => [pid, blocked]));
    for (const flight of running) {
      if (flight.done || !alive.get(pidOf(flight.client))) flight.looks = 0;
      else flight.looks += 1;
      // Twice, because Postgres itself has locks for a moment, too.
      flight.isBlocked = flight.looks >= 2;
    }
    for (const pid of this.leaving) if (!alive.has(pid)) this.leaving.delete(pid);
  }
}

/** The number of a connection's backend. */
export const pidOf = (client: pg.Client): number => (client as unknown as { processID: number }).processID;
