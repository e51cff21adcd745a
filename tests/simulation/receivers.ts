import type { Host, Posted } from "./host";
import type { Random } from "./random";
import type { Scheduler } from "./scheduler";

/** What receivers need of the simulation. */
type Surroundings = {
  readonly scheduler: Scheduler;
  readonly random: Random;
  look(text: string, values: unknown[]): Promise<{ state: string }[]>;
  fail(message: string): void;
};

/** How a receiver answers: always 204, sometimes 500 or 429, always 500, or not at all. */
export type Manner = "well" | "flaky" | "down" | "hangs";

/** The receivers of alerts. The last part of an address names the receiver. */
export class Receivers {
  readonly manners = new Map<string, Manner>();
  /** How often each delivery was answered 204, by its id. */
  readonly accepted = new Map<string, number>();
  /** Requests that are being answered, by process and address. */
  readonly open = new Map<Host, string[]>();

  constructor(private readonly simulation: Surroundings) {}

  async receive({ url, headers }: Posted, host: Host, signal: AbortSignal) {
    const { simulation } = this;
    const { scheduler, random } = simulation;
    const name = url.split("/").at(-1) ?? "";
    const id = headers["webhook-id"] ?? headers["Webhook-Id"] ?? "";
    const open = this.open.get(host) ?? [];
    this.open.set(host, [...open, name]);
    try {
      await scheduler.step(null, `${name} receives ${id.slice(0, 8)}`, async () => {
        const [row] = await simulation.look("select state from public.deliveries where id::text = $1", [id]);
        if (row?.state === "delivered")
          simulation.fail(`The delivery ${id} was sent again after it was delivered.`);
      });
      const manner = this.manners.get(name) ?? "well";
      if (manner === "hangs") {
        await new Promise((_, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
        );
      }
      const status = manner === "well" ? 204 : manner === "down" ? 500 : random.pick([204, 500, 429]);
      await scheduler.step(host, `${name} answers ${status}`, () => {});
      if (status === 204) this.accepted.set(id, (this.accepted.get(id) ?? 0) + 1);
      return { status, retryAfter: status === 429 ? "7" : undefined };
    } finally {
      const rest = this.open.get(host) ?? [];
      rest.splice(rest.indexOf(name), 1);
    }
  }
}
