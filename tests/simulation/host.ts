import { webcrypto } from "node:crypto";
import type pg from "pg";
import type { Boot, Product } from "./bundle";
import { Random } from "./random";
import { isInTransaction, pidOf, resume, type Scheduler, type Timer } from "./scheduler";

/** What a receiver of alerts gets and answers. */
export type Posted = { url: string; headers: Record<string, string>; body: string };
export type Receive = (
  posted: Posted,
  host: Host,
  signal: AbortSignal,
) => Promise<{ status: number; retryAfter: string | undefined }>;

/** What happens to a statement: Postgres runs it, also after more than a second; or its connection is lost before or after that. */
export type Fate = "runs" | "late" | "lost before" | "lost after";

/** What hosts of one simulation share. */
export type World = {
  scheduler: Scheduler;
  boot: Boot;
  database: { url: string; adminUrl: string };
  settings: Record<string, string>;
  receive: Receive;
  fateOf: (host: Host, text: string) => Fate;
  /** Passes a message to the other hosts. */
  relay: (from: Host, message: unknown) => void;
};

/** A simulated process: the product's code with memory, timers and connections of its own. */
export class Host {
  isDead = false;
  readonly connections = new Set<pg.Client>();
  /** The sizes of the pools that it has opened. */
  readonly pools: number[] = [];
  /** What clients and callers do when the process is killed. */
  readonly whenKilled = new Set<() => void>();
  /** Messages of other processes on their way, in order. */
  readonly inbox: unknown[] = [];
  /** Connections that have written to the ledger in a transaction. */
  readonly #writing = new Set<pg.Client>();
  readonly random: Random;
  readonly globals: Record<string, unknown>;
  readonly product: Product;
  readonly bootedAt: number;
  readonly #scheduler: Scheduler;
  #hear: ((message: unknown) => void) | undefined;
  router!: Awaited<ReturnType<Product["createRouter"]>>;

  constructor(
    readonly name: string,
    readonly world: World,
  ) {
    this.#scheduler = world.scheduler;
    this.random = new Random(world.scheduler.random.int(0, 2 ** 31));
    this.bootedAt = world.scheduler.now;
    this.globals = this.#makeGlobals();
    this.product = world.boot(this);
  }

  static async start(name: string, world: World): Promise<Host> {
    const host = new Host(name, world);
    const { product } = host;
    product.configureDatabase(world.database);
    product.announceSealingKey(Buffer.alloc(32, 7).toString("base64"));
    product.connectWorkers();
    host.router = await product.createRouter();
    return host;
  }

  /** Ends the process between two steps: memory and timers are gone, connections close. */
  async kill(): Promise<void> {
    this.isDead = true;
    const { ready, timers, flights } = this.#scheduler;
    for (let index = ready.length - 1; index >= 0; index -= 1)
      if (ready[index]?.owner === this) ready.splice(index, 1);
    for (const timer of timers) if (timer.owner === this) timers.delete(timer);
    for (const flight of flights) if (flight.owner === this) flights.delete(flight);
    for (const client of [...this.connections]) this.cut(client);
    for (const lose of this.whenKilled) lose();
    await this.#scheduler.settle();
  }

  /** Closes a connection as a network does, and waits until its backend has ended. */
  cut(client: pg.Client): void {
    this.leave(client);
    this.connections.delete(client);
    (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    const pid = pidOf(client);
    if (pid) void this.#scheduler.monitor.query("select pg_terminate_backend($1)", [pid]);
  }

  leave(client: pg.Client): void {
    const pid = pidOf(client);
    if (!pid) return;
    resume(pid);
    this.#scheduler.leaving.add(pid);
  }

  step<T>(label: string, run: () => Promise<T>): Promise<T> {
    return this.#scheduler.step(this, label, () => this.#scheduler.inOrder(run));
  }

  inOrder<T>(run: () => Promise<T>): Promise<T> {
    return this.#scheduler.inOrder(run);
  }

  /** Whether it has written to the ledger in a transaction that has not ended. */
  get isWriting(): boolean {
    return !this.isDead && [...this.#writing].some(isInTransaction);
  }

  /** Sends a statement when its turn comes. */
  statement<T>(client: pg.Client, text: string, send: () => T): Promise<T> {
    const label = text.replace(/\s+/g, " ").slice(0, 90);
    return this.#scheduler.step(this, label, async () => {
      const fate = this.world.fateOf(this, text);
      if (fate !== "runs") this.#scheduler.note(`${this.name}: ${fate}`);
      if (fate === "late") {
        await this.#scheduler.sleep(1_300);
        if (this.isDead) return new Promise<never>(() => {});
      }
      if (fate !== "lost before") {
        const result = await this.#scheduler.fly(this, client, async () => send());
        if (/private\.(store_messages|record_correction)/.test(text)) this.#writing.add(client);
        else if (!isInTransaction(client)) this.#writing.delete(client);
        if (fate === "runs" || fate === "late") return result;
      }
      this.cut(client);
      throw new Error("Connection terminated unexpectedly");
    });
  }

  setTimeout(run: (...values: unknown[]) => void, ms = 0, ...values: unknown[]): Timer {
    return this.#addTimer(() => run(...values), ms, undefined);
  }

  clearTimeout(timer: Timer | undefined): void {
    if (timer) this.#scheduler.timers.delete(timer);
  }

  post(request: Posted, signal: AbortSignal): ReturnType<Receive> {
    return this.world.receive(request, this, signal);
  }

  /** Hands the first message that waits to this process. */
  hear(): void {
    this.#hear?.(this.inbox.shift());
  }

  #addTimer(run: () => void, ms: number, everyMs: number | undefined): Timer {
    const timer = { owner: this, at: this.#scheduler.now + Math.max(ms, 0), run, everyMs, ...likeTimeout };
    if (!this.isDead) this.#scheduler.timers.add(timer);
    return timer;
  }

  #makeGlobals(): Record<string, unknown> {
    const scheduler = this.#scheduler;
    class SimulatedDate extends Date {
      constructor(...values: [] | [number]) {
        if (values.length === 0) super(scheduler.now);
        else super(...values);
      }
      static override now = () => scheduler.now;
      static override [Symbol.hasInstance](value: unknown) {
        return Object.prototype.toString.call(value) === "[object Date]";
      }
    }
    const abort = (ms: number) => {
      const controller = new AbortController();
      this.setTimeout(
        () => controller.abort(new DOMException("The operation timed out.", "TimeoutError")),
        ms,
      );
      return controller.signal;
    };
    const globals = {
      process: Object.create(process, {
        env: { value: { NODE_ENV: "production", ...this.world.settings } },
        on: {
          value: (event: string, run: (message: unknown) => void) => {
            if (event === "message") this.#hear = run;
          },
        },
        send: { value: (message: unknown) => this.world.relay(this, message) },
      }),
      Date: SimulatedDate,
      Math: Object.create(Math, { random: { value: () => this.random.next() } }),
      performance: { now: () => scheduler.now - this.bootedAt + 1, timeOrigin: this.bootedAt },
      crypto: {
        subtle: this.#counted(webcrypto.subtle),
        randomUUID: () => this.random.uuid(),
        getRandomValues: (view: NodeJS.ArrayBufferView) => this.random.fill(view),
      },
      AbortSignal: Object.create(AbortSignal, { timeout: { value: abort } }),
      setTimeout: this.setTimeout.bind(this),
      clearTimeout: this.clearTimeout.bind(this),
      setInterval: (run: () => void, ms: number) => this.#addTimer(run, ms, Math.max(ms, 1)),
      clearInterval: this.clearTimeout.bind(this),
    };
    const own = Object.create(globalThis, Object.getOwnPropertyDescriptors(globals));
    return { ...globals, globalThis: own };
  }

  /** Web Crypto, whose work in other threads the scheduler waits for. */
  #counted(subtle: webcrypto.SubtleCrypto): unknown {
    return new Proxy(subtle, {
      get:
        (target, name) =>
        (...values: unknown[]) => {
          const work = (
            target as unknown as Record<string | symbol, (...values: unknown[]) => Promise<unknown>>
          )[name];
          return this.#scheduler.inOrder(async () => work?.apply(target, values));
        },
    });
  }
}

const likeTimeout = {
  ref() {
    return this;
  },
  unref() {
    return this;
  },
  hasRef: () => true,
};
