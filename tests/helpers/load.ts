import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { vi } from "vitest";
import { type Answer, apiClient, costMessage } from "./client";
import type { Fixtures } from "./keys";

/** One message of a load: its label is its own, `answer` is the last one it got, none where the connection was lost. */
export type Posted = { label: string; answer?: Answer };

export type LoadOptions = {
  clients: number;
  secret: string;
  /** Asked before each post: a service that was started anew has another address. */
  baseUrl: () => string;
  /**
   * `never`: a message is posted once, and its client ends where the connection is lost. `until-stored`: every message
   * has an idempotency key and is posted until it is answered 201.
   */
  retry: "never" | "until-stored";
};

/** How long a client waits after a refusal or a lost connection; one that retries, after every answer. */
const pauseMs = 100;

/** Clients that post one message of $0.01 after another until told to stop. */
export class Load {
  readonly posted: Posted[] = [];
  readonly #name = randomUUID();
  readonly #ended: Promise<unknown>;
  #stopping = false;

  constructor(private readonly options: LoadOptions) {
    const clients = Array.from({ length: options.clients }, (_, client) => this.#run(client));
    this.#ended = Promise.all(clients);
  }

  /** What was answered with a 201. */
  get stored(): (Posted & { answer: Answer })[] {
    return this.posted.filter((post): post is Posted & { answer: Answer } => post.answer?.status === 201);
  }

  /** Waits until so many more messages are answered 201. */
  async storesMore(count: number): Promise<void> {
    const wanted = this.stored.length + count;
    await vi.waitUntil(() => this.stored.length >= wanted, { timeout: 20_000, interval: 5 });
  }

  /** Resolves once every client has ended; told to stop, or cut off. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#ended;
  }

  async #run(client: number): Promise<void> {
    for (let number = 0; !this.#stopping; number += 1) {
      const label = `${this.#name} ${client} ${number}`;
      const post = { label };
      const answer = await (this.options.retry === "never"
        ? this.#postOnce(post)
        : this.#postUntilStored(post));
      if (!answer) return;
      // A load that retries runs beside all else there is to do, which it must not take the processor from.
      if (answer.status !== 201 || this.options.retry === "until-stored") await wait(pauseMs);
    }
  }

  async #postOnce(post: Posted): Promise<Answer | undefined> {
    const { secret, baseUrl } = this.options;
    const body = costMessage(
      { label: post.label },
      this.options.retry === "never" ? {} : { idempotency_key: post.label },
    );
    const answer = await apiClient(baseUrl(), secret)
      .post(body)
      .catch(() => undefined);
    this.posted.push(answer ? { ...post, answer } : post);
    return answer;
  }

  async #postUntilStored(post: Posted): Promise<Answer> {
    for (;;) {
      const answer = await this.#postOnce(post);
      if (answer?.status === 201) return answer;
      await wait(pauseMs);
    }
  }
}

/**
 * What a load was promised and the ledger does not hold: an acknowledged message that is not there, or under another id;
 * a message that is there twice. None, if all is well.
 */
export async function brokenPromises({ sql }: Fixtures, load: Load): Promise<unknown[]> {
  const { rows } = await sql.query<{ label: string; ids: string[] }>(
    "select label, array_agg(id::text) as ids from public.messages where label = any($1) group by label",
    [[...new Set(load.posted.map(({ label }) => label))]],
  );
  const idsOf = new Map(rows.map(({ label, ids }) => [label, ids]));
  const twice = rows.filter(({ ids }) => ids.length > 1);
  const lost = load.stored.filter(({ label, answer }) => !idsOf.get(label)?.includes(String(answer.body.id)));
  return [...twice, ...lost];
}
