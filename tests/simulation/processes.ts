import type { WorkerMessage } from "@/lib/workers";
import { type Fate, Host, type World } from "./host";
import type { Random } from "./random";
import type { Scheduler } from "./scheduler";

/** A guarantee that does not hold. */
export class Violation extends Error {
  override name = "Violation";
}

/** The connections that a process may open (POSTGRES_POOL_SIZE). */
export const poolSize = 8;

const count = 3;

/** The processes of the service. They are killed, lose connections, and are started again as the supervisor starts workers. */
export class Processes {
  readonly hosts: Host[] = [];
  /** While true, nothing is killed or lost. */
  isCalm = true;
  /** How many processes were killed, and connections and answers lost so far. */
  disturbances = 0;
  readonly #random: Random;
  readonly #scheduler: Scheduler;
  readonly #world: World;
  readonly #pauses: number[] = Array(count).fill(0);
  #restarts = 0;

  constructor(world: Omit<World, "fateOf" | "relay">) {
    this.#scheduler = world.scheduler;
    this.#random = world.scheduler.random;
    this.#world = {
      ...world,
      fateOf: () => this.#chooseFate(),
      relay: (from, message) => this.#relay(from, message as WorkerMessage),
    };
  }

  async start(): Promise<void> {
    for (let slot = 0; slot < count; slot += 1) this.hosts.push(await Host.start(`p${slot}`, this.#world));
  }

  async stop(): Promise<void> {
    for (const host of this.hosts) await host.kill();
  }

  get alive(): Host[] {
    return this.hosts.filter(({ isDead }) => !isDead);
  }

  /** The process that gets the next request. */
  pick(): Host {
    return this.#random.pick(this.alive);
  }

  /** A process whose transaction has written to the ledger and has not ended. */
  get writing(): Host | undefined {
    return this.alive.find(({ isWriting }) => isWriting);
  }

  /** @throws Violation if a process may open more connections than it is allowed */
  checkConnections(): void {
    for (const { pools, name } of this.hosts) {
      const open = pools.reduce((sum, size) => sum + size, 0);
      if (open > poolSize)
        throw new Violation(
          `${name} may open ${open} connections, more than POSTGRES_POOL_SIZE (${poolSize}).`,
        );
    }
  }

  /**
   * Kills a process, unless it is the last one.
   * @returns starts it again after the supervisor's pause; undefined if nothing was killed
   * @throws Violation if the pause is another than the supervisor documents
   */
  async kill(): Promise<(() => Promise<void>) | undefined> {
    if (this.alive.length < 2) return undefined;
    // What ends a process often ends it again soon after its start.
    const newest = this.alive.reduce((last, each) => (each.bootedAt > last.bootedAt ? each : last));
    const host = this.#random.chance(0.5) ? newest : this.pick();
    const slot = this.hosts.indexOf(host);
    this.disturbances += 1;
    this.#scheduler.note(`${host.name} is killed`);
    await host.kill();
    const servedMs = this.#scheduler.now - host.bootedAt;
    const last = this.#pauses[slot] ?? 0;
    const pause = host.product.pauseBefore(servedMs, last);
    const wanted = servedMs >= 60_000 ? 0 : Math.min(Math.max(2 * last, 100), 10_000);
    if (pause !== wanted)
      throw new Violation(
        `A process that served ${servedMs} ms is started again after ${pause} ms, not ${wanted}.`,
      );
    this.#pauses[slot] = pause;
    this.#restarts += 1;
    const name = `p${slot}.${this.#restarts}`;
    return async () => {
      await this.#scheduler.sleep(pause);
      const boot = async () => {
        this.hosts[slot] = await Host.start(name, this.#world);
      };
      await this.#scheduler.step(null, `${name} starts`, () => this.#scheduler.busy(boot));
    };
  }

  /** Whether an answer is lost on its way. */
  losesAnswer(): boolean {
    return this.#goesWrong(0.03);
  }

  #goesWrong(probability: number): boolean {
    if (this.isCalm || !this.#random.chance(probability)) return false;
    this.disturbances += 1;
    return true;
  }

  #chooseFate(): Fate {
    if (!this.isCalm && this.#random.chance(0.003)) return "late";
    if (!this.#goesWrong(0.004)) return "runs";
    return this.#random.chance(0.5) ? "lost before" : "lost after";
  }

  /** Passes a value to all other processes. They get what one process sends in its order. */
  #relay(from: Host, message: WorkerMessage): void {
    if (message.exchange !== "broadcast") return;
    for (const host of this.alive) {
      if (host === from) continue;
      host.inbox.push(message);
      void this.#scheduler.step(host, "hears another worker", async () => host.hear());
    }
  }
}
