import { expect } from "vitest";
import type { ExactAnswer } from "./client";
import { exact, show } from "./exact";
import type { Expected, LedgerModel } from "./model";
import type { KeyName, Post, Step } from "./requests";
import type { SequenceWorkspace } from "./workspace";

type Call = Exclude<Step, { again: number }>;

/** The answer to a post, in the terms of the model's expectation. */
type Seen = Record<string, unknown>;

/**
 * Runs a step against the service and the model, and compares the answers.
 * @param ids the id under which each message was first recorded, by number
 */
export class Player {
  readonly #ids = new Map<number, unknown>();
  readonly #calls: Call[] = [];

  constructor(
    private readonly workspace: SequenceWorkspace,
    private readonly model: LedgerModel,
  ) {}

  async play(step: Step): Promise<void> {
    const call = "again" in step ? this.#calls[step.again % Math.max(1, this.#calls.length)] : step;
    if (!call) return;
    this.#calls.push(call);
    const { key, posts, way } = call;
    if (way === "bulk" || way === "bulk trial") await this.#playBulk(key, posts, way === "bulk trial");
    else for (const post of posts) await this.#playPost(key, post, way === "twice at once");
  }

  async #playBulk(key: KeyName, posts: Post[], isTrial: boolean): Promise<void> {
    const model = isTrial ? this.model.fork() : this.model;
    const expected = posts.map((post) => model.post(key, post, Date.now(), isTrial));
    const { status, body } = await this.workspace.clients[key].bulk(
      posts.map(toBody),
      isTrial ? "?dry_run=true" : "",
    );
    expect(status).toBe(207);
    const results = body.results as Record<string, unknown>[];
    expect(results.map(({ index }) => index)).toEqual(posts.map((_, index) => String(index)));
    for (const [index, want] of expected.entries()) {
      const result = results[index] ?? {};
      const seen = result.status === "201" ? { ...result, status: 201 } : result;
      this.#compare(want, seen, `item ${index}`, isTrial);
    }
    const recorded = expected.filter((want) => "status" in want).length;
    expect([body.recorded, body.refused]).toEqual([recorded, posts.length - recorded].map(String));
  }

  async #playPost(key: KeyName, post: Post, twice: boolean): Promise<void> {
    const client = this.workspace.clients[key];
    const answers = await Promise.all(Array.from({ length: twice ? 2 : 1 }, () => client.post(toBody(post))));
    // Either of two parallel posts may have been first: the one that is not a replay.
    const inOrder = answers.sort((a, b) => Number(isReplay(a)) - Number(isReplay(b)));
    for (const answer of inOrder) {
      const want = this.model.post(key, post, Date.now());
      const seen =
        answer.status === 201
          ? { ...answer.body, status: 201, replayed: isReplay(answer) }
          : { ...answer.body, httpStatus: answer.status };
      this.#compare(want, seen, "the post");
    }
  }

  #compare(want: Expected, seen: Seen, what: string, isTrial = false): void {
    if ("error" in want) {
      expect(seen, what).toMatchObject({ error: want.error });
      if (want.limit !== undefined && want.spent !== undefined) {
        expect([seen.limit_usd, seen.spent_usd].map(plain), what).toEqual([
          show(want.limit),
          show(want.spent),
        ]);
      }
      return;
    }
    expect(
      {
        status: seen.status,
        error: seen.error,
        amount: plain(seen.amount_usd),
        costStatus: seen.cost_status,
        listPrice: plain(seen.list_price_usd),
        replayed: seen.replayed,
        due: ((seen.due_periods ?? []) as DuePeriod[]).map((due) => [due.starts_on, plain(due.amount_usd)]),
      },
      what,
    ).toEqual({
      status: 201,
      error: undefined,
      amount: show(want.amount),
      costStatus: want.costStatus,
      listPrice: typeof want.listPrice === "bigint" ? show(want.listPrice) : want.listPrice,
      replayed: want.replayed,
      due: want.due.map(([startsOn, amount]) => [startsOn, show(amount)]),
    });
    const id = this.#ids.get(want.record);
    // The ids in a dry run's answer have no meaning.
    if (id === undefined && isTrial) return;
    if (id === undefined) this.#ids.set(want.record, seen.id);
    else expect(seen.id, what).toBe(id);
  }
}

type DuePeriod = { starts_on: string; amount_usd: string };

const isReplay = ({ headers }: ExactAnswer) => headers.get("idempotent-replayed") === "true";

/** A number's text in one canonical spelling. */
export function plain(text: unknown): unknown {
  return typeof text === "string" ? show(exact(text)) : text;
}

function toBody({ flaw, message, ...rest }: Post) {
  return { ...rest, message: { ...message, ...flaw } };
}
