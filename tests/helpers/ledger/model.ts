import { type Cost, type CostStatus, costOf, type Share } from "./costs";
import { type Exact, exact, fine, percentOf, total } from "./exact";
import { environmentOf, type KeyName, keyOptions, type Message, mayTouch, type Post } from "./requests";

/** A share of a message as it stands in the ledger. */
export type Entry = Share & {
  project: string;
  key: KeyName;
  environment: "live" | "test";
  type: Message["type"];
  provider: string | null;
};

/** What a post has to be answered. `record` numbers what is recorded; a replay has the number of the first answer. */
export type Expected =
  | { status: 201; amount: Exact; costStatus: CostStatus; record: number; replayed: boolean }
  | { error: string; limit?: Exact; spent?: Exact };

type Answered = { status: 201; amount: Exact; costStatus: CostStatus; record: number };

const dayMs = 86_400_000;

/** A workspace's ledger as the design says it should be: decides each post, records it, and keeps every entry. */
export class LedgerModel {
  readonly entries: Entry[] = [];
  readonly projects = new Set(["alpha"]);
  readonly #answers = new Map<string, { meaning: string; answer: Answered }>();
  readonly #spent = new Map<KeyName, Exact>();
  #records = 0;

  /** @param now milliseconds since 1970, on the day the service decides */
  post(key: KeyName, post: Post, now: number): Expected {
    if (post.flaw) return { error: "validation_failed" };
    const denied = deny(key, post);
    if (denied) return { error: denied };
    const meaning = meaningOf(key, post);
    const earlier = post.idempotency_key === undefined ? undefined : this.#answers.get(post.idempotency_key);
    if (earlier && earlier.meaning !== meaning) return { error: "idempotency_conflict" };
    if (earlier) return { ...earlier.answer, replayed: true };
    const work = this.#workOut(key, post, now);
    if (!work) return { error: "validation_failed" };
    const spent = this.#spent.get(key) ?? 0n;
    const limit = limitOf(key);
    if (limit !== undefined && spent + work.cost > limit) {
      return { error: "monthly_limit_exceeded", limit, spent };
    }
    this.#spent.set(key, spent + work.cost);
    this.projects.add(post.project);
    this.entries.push(...work.entries);
    this.#records += 1;
    const answer: Answered = {
      status: 201,
      amount: work.amount,
      costStatus: work.status,
      record: this.#records,
    };
    if (post.idempotency_key !== undefined) this.#answers.set(post.idempotency_key, { meaning, answer });
    return { ...answer, replayed: false };
  }

  /** The entries an environment's key may see in a range of instants. */
  seen(key: KeyName, from: number, to: number): Entry[] {
    return this.entries.filter(
      ({ project, environment, at }) =>
        environment === environmentOf(key) && mayTouch(key, project) && at >= from && at < to,
    );
  }

  #workOut(key: KeyName, { project, message }: Post, now: number) {
    const own = { project, key, environment: environmentOf(key), type: message.type };
    if (message.type === "allocation") {
      const amount = this.#allocated(own, message, now);
      if (amount === undefined) return undefined;
      const at = message.occurred_at === undefined ? now : Date.parse(message.occurred_at);
      const entry: Entry = {
        ...own,
        at,
        amount,
        provider: null,
        model: null,
        feature: null,
        counts: 1,
        unpriced: 0,
      };
      const taken: Entry = { ...entry, project: message.from_project, amount: -amount, counts: 0 };
      return { amount, cost: 0n, status: "client" as const, entries: [entry, taken] };
    }
    const { amount, status, shares }: Cost = costOf(message, now);
    const provider = "vendor" in message ? message.vendor : message.provider;
    return {
      amount,
      cost: amount,
      status,
      entries: shares.map((share): Entry => ({ ...own, provider, ...share })),
    };
  }

  /** What an allocation moves; undefined where it cannot be made. */
  #allocated(
    own: Pick<Entry, "project" | "environment">,
    message: Extract<Message, { type: "allocation" }>,
    now: number,
  ): Exact | undefined {
    if (message.from_project === own.project || !this.projects.has(message.from_project)) return undefined;
    if (message.percent === undefined) return exact(message.amount ?? "0");
    const at = message.occurred_at === undefined ? now : Date.parse(message.occurred_at);
    const monthStart = Date.parse(`${new Date(at).toISOString().slice(0, 7)}-01T00:00:00Z`);
    const dayEnd = (Math.floor(at / dayMs) + 1) * dayMs;
    const spent = this.entries.filter(
      (entry) =>
        entry.project === message.from_project &&
        entry.environment === own.environment &&
        entry.at >= monthStart &&
        entry.at < dayEnd,
    );
    const amount = percentOf(total(spent.map((entry) => entry.amount)), exact(message.percent));
    return amount > 0n ? amount : undefined;
  }
}

/** What keeps a key from posting this, in the order of the design: permission, source, project, feature. */
function deny(key: KeyName, { project, source, message }: Post): string | undefined {
  if (key === "usageOnly" && (message.type === "expense" || message.type === "subscription")) {
    return "permission_denied";
  }
  if (key === "importOnly" && source !== "import") return "source_not_allowed";
  const projects = message.type === "allocation" ? [project, message.from_project] : [project];
  if (!projects.every((slug) => mayTouch(key, slug))) return "project_not_allowed";
  const lines = message.type === "usage" ? [message] : message.type === "batch" ? message.items : [];
  if (key === "chatOnly" && !lines.every(({ feature }) => feature === "chat")) return "feature_not_allowed";
  return undefined;
}

function limitOf(key: KeyName): Exact | undefined {
  const options = keyOptions[key];
  return "monthly_limit" in options ? exact(options.monthly_limit) : undefined;
}

/** Two posts with the same idempotency key are one where this is the same: what was meant, however it was spelt. */
function meaningOf(key: KeyName, { project, source, message }: Post): string {
  const defaults = {
    expense: { currency: "USD" },
    subscription: { currency: "USD", interval: "month" },
  }[message.type as string];
  const numbers = ["quantity", "cached_quantity", "estimated_cost", "amount", "percent"];
  const canonical = (value: unknown, name = ""): unknown => {
    if (typeof value === "string") return numbers.includes(name) ? fine(value).toString() : value;
    if (Array.isArray(value)) return value.map((item) => canonical(item));
    const fields = Object.entries(value as object).sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(fields.map(([field, inner]) => [field, canonical(inner, field)]));
  };
  return JSON.stringify([environmentOf(key), project, source, canonical({ ...defaults, ...message })]);
}
