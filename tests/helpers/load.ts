import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { vi } from "vitest";
import { type Answer, apiClient, costMessage } from "./client";
import type { Fixtures } from "./keys";

/** A message of a load, with a label of its own. `answer`: its last answer; undefined if the connection was lost. */
export type Posted = { label: string; answer?: Answer };

export type LoadOptions = {
  clients: number;
  secret: string;
  /** Called before each post, because a restarted service has another address. */
  baseUrl: () => string;
  /**
   * `never`: a message is posted once, and its client ends when the connection is lost. `until-stored`: every message has
   * an idempotency key and is posted until the answer is 201.
   */
  retry: "never" | "until-stored";
};

/** How long a client waits after a refusal or a lost connection; a client that retries waits after every answer. */
const pauseMs = 100;

/** Clients that post one message of $0.01 after another until they are stopped. */
export class Load {
  readonly posted: Posted[] = [];
  readonly #name = randomUUID();
  readonly #ended: Promise<unknown>;
  #stopping = false;

  constructor(private readonly options: LoadOptions) {
    const clients = Array.from({ length: options.clients }, (_, client) => this.#run(client));
    this.#ended = Promise.all(clients);
  }

  /** The messages that were answered with 201. */
  get stored(): (Posted & { answer: Answer })[] {
    return this.posted.filter((post): post is Posted & { answer: Answer } => post.answer?.status === 201);
  }

  /** Waits until this many more messages were answered with 201. */
  async storesMore(count: number): Promise<void> {
    const wanted = this.stored.length + count;
    await vi.waitUntil(() => this.stored.length >= wanted, { timeout: 20_000, interval: 5 });
  }

  /** Stops the clients. Resolves when all of them have ended. */
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
      // A load that retries runs beside other work and must leave it enough processor time.
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
 * Compares a load's 201 answers with the ledger. @returns acknowledged messages that are missing or have another id, and
 * messages that were recorded twice; empty if there are none
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

/** The labels of messages that were recorded although their requests got no answer. */
export async function recordedUnanswered({ sql }: Fixtures, load: Load): Promise<string[]> {
  const unanswered = load.posted.filter(({ answer }) => !answer).map(({ label }) => label);
  const { rows } = await sql.query<{ label: string }>(
    "select label from public.messages where label = any($1)",
    [unanswered],
  );
  return rows.map(({ label }) => label);
}
