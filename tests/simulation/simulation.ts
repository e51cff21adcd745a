import pg from "pg";
import type { TestDatabase } from "@/tests/helpers/cluster";
import { Fixtures } from "@/tests/helpers/keys";
import type { Boot } from "./bundle";
import { copySimulated } from "./database";
import { Processes, poolSize, Violation } from "./processes";
import { Random } from "./random";
import { Receivers } from "./receivers";
import { Scheduler } from "./scheduler";

export { Violation } from "./processes";

// biome-ignore lint/suspicious/noExplicitAny: answers of every endpoint.
export type Answer = { status: number; headers: Headers; body: any };
export type Call = {
  secret?: string | undefined;
  body?: unknown;
  headers?: Record<string, string>;
  /** Whether the client may hang up before the first answer. */
  hangsUp?: boolean;
};

/** A client got no answer. */
class Lost extends Error {}

const settings = {
  POSTGRES_POOL_SIZE: String(poolSize),
  LOG_LEVEL: "silent",
  RATES_URL: "off",
  PRICES_URL: "off",
  PROVIDER_URLS: "off",
};

/** Several processes of the product on one database, and clients that call them, in an order that the seed determines. */
export class Simulation {
  readonly random: Random;
  readonly receivers: Receivers;
  readonly processes: Processes;
  #failure: Error | undefined;
  #running = 0;

  private constructor(
    readonly seed: number,
    readonly database: TestDatabase,
    readonly fixtures: Fixtures,
    readonly scheduler: Scheduler,
    boot: Boot,
  ) {
    this.random = scheduler.random;
    this.receivers = new Receivers(this);
    this.processes = new Processes({
      boot,
      database,
      settings: { ...settings, POSTGRES_URL: database.url },
      scheduler,
      receive: (posted, host, signal) => this.receivers.receive(posted, host, signal),
    });
  }

  /** @param start the time at which it begins, milliseconds since 1970 */
  static async open(seed: number, template: TestDatabase, boot: Boot, start: number): Promise<Simulation> {
    const database = await copySimulated(template);
    const monitor = new pg.Pool({ connectionString: database.superuserUrl, max: 1 });
    const scheduler = new Scheduler(new Random(seed), monitor, start);
    await scheduler.setClock();
    const simulation = new Simulation(seed, database, new Fixtures(database.adminUrl), scheduler, boot);
    await simulation.processes.start();
    return simulation;
  }

  async close(): Promise<void> {
    await this.processes.stop();
    await this.fixtures.close();
    await this.scheduler.monitor.end();
    await this.database.drop();
  }

  get now(): number {
    return this.scheduler.now;
  }

  /** The secret of a new key. */
  newSecret(): string {
    return this.processes.pick().product.generateSecret();
  }

  /** How many processes were killed, and connections and answers lost so far. */
  get disturbances(): number {
    return this.processes.disturbances;
  }

  /** Starts an operation of a client beside others. */
  spawn(what: string, operation: Promise<unknown>): void {
    this.#running += 1;
    operation
      .catch((error) => {
        this.#failure ??=
          error instanceof Error
            ? Object.assign(error, { message: `${what}: ${error.message}` })
            : new Error(String(error));
      })
      .finally(() => {
        this.#running -= 1;
      });
  }

  fail(message: string): void {
    this.#failure ??= new Violation(message);
  }

  /** Lets steps happen until an operation ends. @returns its result */
  async run<T>(operation: Promise<T>): Promise<T> {
    let outcome: { value: T } | undefined;
    this.spawn(
      "run",
      operation.then((value) => {
        outcome = { value };
      }),
    );
    while (!outcome) await this.tick();
    return outcome.value;
  }

  /** Whether an operation has not ended. */
  get isRunning(): boolean {
    return this.#running > 0;
  }

  /** Lets one step happen. @throws what an operation threw, or Violation */
  async tick(): Promise<void> {
    if (this.#failure) throw this.#failure;
    if (!this.processes.isCalm && this.random.chance(0.004)) {
      const restart = await this.processes.kill();
      if (restart) this.spawn("restart", restart());
    }
    if (this.random.chance(0.01)) this.scheduler.stand(this.processes.pick(), this.random.int(5, 60));
    if (this.random.chance(0.1)) await this.scheduler.advance(this.random.pick([1, 7, 30, 60, 400]));
    const did = await this.scheduler.act();
    if (this.#failure) throw this.#failure;
    if (!did && this.#running > 0) throw new Violation("Operations wait for something that never happens.");
    this.processes.checkConnections();
  }

  /** A statement of the test itself, as a step. */
  // biome-ignore lint/suspicious/noExplicitAny: rows of every statement.
  sql(text: string, values: unknown[] = []): Promise<any[]> {
    return this.scheduler.step(null, `looks: ${text.replace(/\s+/g, " ").slice(0, 60)}`, () =>
      this.look(text, values),
    );
  }

  // biome-ignore lint/suspicious/noExplicitAny: rows of every statement.
  look(text: string, values: unknown[] = []): Promise<any[]> {
    return this.scheduler.inOrder(async () => (await this.scheduler.monitor.query(text, values)).rows);
  }

  /** Calls until there is an answer, as clients do: the same call again, its members in another order. */
  async call(method: string, path: string, call: Call = {}): Promise<Answer> {
    for (let tries = 0; tries < 60; tries += 1) {
      try {
        const hangsUp = call.hangsUp === true && tries === 0;
        const answer = await this.once(method, path, { ...call, hangsUp }, tries > 0);
        if (answer.status < 500) return answer;
        if (answer.status !== 503)
          throw new Violation(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
      } catch (error) {
        if (!(error instanceof Lost)) throw error;
      }
      await this.scheduler.sleep(this.random.pick([20, 300, 1_500]));
    }
    throw new Violation(`${method} ${path} was never answered.`);
  }

  /** One request to some process. @throws Lost if the client gets no answer */
  async once(
    method: string,
    path: string,
    { secret, body, headers = {}, hangsUp }: Call,
    isAgain = false,
  ): Promise<Answer> {
    const { scheduler, random } = this;
    const host = await scheduler.step(null, `${method} ${path}`, () => this.processes.pick());
    const text =
      body === undefined
        ? undefined
        : typeof body === "string"
          ? body
          : JSON.stringify(isAgain ? random.shuffle(body) : body);
    const controller = new AbortController();
    const request = new Request(`http://127.0.0.1${path}`, {
      method,
      signal: controller.signal,
      headers: {
        ...(secret && { authorization: `Bearer ${secret}` }),
        ...(text !== undefined && {
          "content-type": "application/json",
          "content-length": String(Buffer.byteLength(text)),
        }),
        ...headers,
      },
      ...(text !== undefined && { body: text }),
    });
    const incoming = { method, url: path, socket: { remoteAddress: "127.0.0.1" } };
    return new Promise((resolve, reject) => {
      const lose = () => {
        controller.abort();
        reject(new Lost());
      };
      // Sends nothing again before the process has noticed.
      const hangUp = () => controller.abort();
      host.whenKilled.add(lose);
      if (hangsUp) void scheduler.step(null, "the client hangs up", hangUp);
      const answer = async () => {
        const response = await host.router.fetch(request, { incoming } as never);
        const answered = await response.text();
        if (host.isDead) return;
        const isUndelivered = controller.signal.aborted;
        await scheduler.step(host, `answers ${method} ${path}: ${response.status}`, () => {});
        host.whenKilled.delete(lose);
        if (isUndelivered || this.processes.losesAnswer()) return reject(new Lost());
        const isJson = /json/.test(response.headers.get("content-type") ?? "");
        resolve({
          status: response.status,
          headers: response.headers,
          body: isJson && answered ? JSON.parse(answered) : answered,
        });
      };
      answer().catch(reject);
    });
  }

  /** Runs a job in some process. @returns how much it did; undefined if it failed or its process was killed */
  async job(name: string): Promise<number | undefined> {
    const host = await this.scheduler.step(null, `job ${name}`, () => this.processes.pick());
    const job = host.product.jobs.find((each) => each.name === name);
    if (!job) throw new Error(`There is no job ${name}.`);
    return new Promise((resolve) => {
      const die = () => resolve(undefined);
      host.whenKilled.add(die);
      void host.product.runJob(job).then(({ done, failed }) => {
        host.whenKilled.delete(die);
        resolve(failed ? undefined : done);
      });
    });
  }
}
