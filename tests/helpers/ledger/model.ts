import {
  type CostStatus,
  costOf,
  type DuePeriod,
  duePeriods,
  isMistimed,
  monthsLater,
  type Share,
} from "./costs";
import { type Exact, exact, fine, percentOf, total } from "./exact";
import { environmentOf, type KeyName, keyOptions, type Message, mayTouch, type Post } from "./requests";

/** A posting in the model's ledger. */
export type Entry = Share & {
  project: string;
  key: KeyName;
  environment: "live" | "test";
  type: Message["type"];
  provider: string | null;
};

/** The expected answer to a post. `record` is the number of the recorded message; a replay has that of the first answer. */
export type Expected = (Answered & { replayed: boolean }) | { error: string; limit?: Exact; spent?: Exact };

type Answered = {
  status: 201;
  amount: Exact;
  costStatus: CostStatus;
  listPrice: Exact | null | undefined;
  record: number;
  /** The first day and the charge of each further period that is recorded with it. */
  due: [startsOn: string, amount: Exact][];
};

const dayMs = 86_400_000;

/** A workspace's ledger as the design specifies it. It decides each post, records it and keeps every entry. */
export class LedgerModel {
  readonly entries: Entry[] = [];
  readonly projects = new Set(["alpha"]);
  readonly #answers = new Map<string, { meaning: string; answer: Answered }>();
  readonly #spent = new Map<KeyName, Exact>();
  #records = 0;

  /** A copy of this model for a dry run. */
  fork(): LedgerModel {
    const fork = new LedgerModel();
    fork.entries.push(...this.entries);
    for (const project of this.projects) fork.projects.add(project);
    for (const [key, answer] of this.#answers) fork.#answers.set(key, answer);
    for (const [key, spent] of this.#spent) fork.#spent.set(key, spent);
    fork.#records = this.#records;
    return fork;
  }

  /**
   * @param now milliseconds since 1970, on the day the service decides
   * @param isTrial whether it is a dry run
   */
  post(key: KeyName, post: Post, now: number, isTrial = false): Expected {
    if (post.flaw) return { error: "validation_failed" };
    const meaning = meaningOf(key, post);
    const place = `${environmentOf(key)} ${post.idempotency_key}`;
    const earlier = post.idempotency_key === undefined ? undefined : this.#answers.get(place);
    if (earlier?.meaning !== meaning && isMistimed(post.message, now)) return { error: "validation_failed" };
    const denied = deny(key, post, isTrial);
    if (denied) return { error: denied };
    if (earlier && earlier.meaning !== meaning) return { error: "idempotency_conflict" };
    if (earlier) return { ...earlier.answer, replayed: true };
    const work = this.#workOut(key, post, now);
    if (!work) return { error: "validation_failed" };
    const spent = this.#spent.get(key) ?? 0n;
    const limit = limitOf(key);
    if (limit !== undefined && (spent >= limit || spent + work.cost > limit)) {
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
      listPrice: work.listPrice,
      record: this.#records,
      due: work.due.map(({ startsOn, cost }) => [startsOn, cost.amount]),
    };
    if (post.idempotency_key !== undefined) this.#answers.set(place, { meaning, answer });
    return { ...answer, replayed: false };
  }

  /** The entries in a range of times that a key of this environment may see. */
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
        included: 0n,
      };
      const taken: Entry = { ...entry, project: message.from_project, amount: -amount, counts: 0 };
      return {
        amount,
        cost: 0n,
        status: "client" as const,
        listPrice: undefined,
        entries: [entry, taken],
        due: [],
      };
    }
    const { amount, status, listPrice, shares } = costOf(message, now);
    const due: DuePeriod[] = message.type === "subscription" ? duePeriods(message, now) : [];
    const provider = "vendor" in message ? message.vendor : message.provider;
    return {
      amount,
      cost: amount + total(due.map(({ cost }) => cost.amount)),
      status,
      listPrice,
      entries: [...shares, ...due.flatMap(({ cost }) => cost.shares)].map(
        (share): Entry => ({ ...own, provider, ...share }),
      ),
      due,
    };
  }

  /** What an allocation moves; undefined if it is refused. */
  #allocated(
    own: Pick<Entry, "project" | "environment">,
    message: Extract<Message, { type: "allocation" }>,
    now: number,
  ): Exact | undefined {
    if (message.from_project === own.project || !this.projects.has(message.from_project)) return undefined;
    const at = message.occurred_at === undefined ? now : Date.parse(message.occurred_at);
    const [monthStart, monthEnd] = [0, 1].map((months) =>
      monthsLater(Date.parse(`${new Date(at).toISOString().slice(0, 7)}-01T00:00:00Z`), months),
    ) as [number, number];
    const dayEnd = (Math.floor(at / dayMs) + 1) * dayMs;
    const spentUntil = (end: number) =>
      total(
        this.entries
          .filter(
            ({ project, environment }) => project === message.from_project && environment === own.environment,
          )
          .filter((entry) => entry.at >= monthStart && entry.at < end)
          .map((entry) => entry.amount),
      );
    const amount =
      message.percent === undefined
        ? exact(message.amount ?? "0")
        : percentOf(spentUntil(dayEnd), exact(message.percent));
    return amount > 0n && amount <= spentUntil(monthEnd) ? amount : undefined;
  }
}

/** Why a key may not post this, in the order of the design: permission, source, project, feature. */
function deny(key: KeyName, { project, source, message }: Post, isTrial: boolean): string | undefined {
  const isUsage = message.type !== "expense" && message.type !== "subscription";
  if ((key === "usageOnly" || key === "writeOnly") && !isUsage) return "permission_denied";
  const revealsSpend = message.type === "allocation" && (message.percent !== undefined || isTrial);
  if (key === "writeOnly" && revealsSpend) return "permission_denied";
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

/** The meaning of a post. It is equal for two posts with one idempotency key that mean the same, however they are spelt. */
function meaningOf(key: KeyName, { project, source, message }: Post): string {
  const defaults = {
    expense: { currency: "USD" },
    subscription: { currency: "USD", interval: "month", recurring: false },
  }[message.type as string];
  const numbers = ["quantity", "cached_quantity", "estimated_cost", "amount", "percent"];
  const canonical = (value: unknown, name = ""): unknown => {
    if (typeof value === "string") return numbers.includes(name) ? fine(value).toString() : value;
    if (Array.isArray(value)) return value.map((item) => canonical(item));
    if (typeof value === "boolean") return value;
    const fields = Object.entries(value as object).sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(fields.map(([field, inner]) => [field, canonical(inner, field)]));
  };
  return JSON.stringify([environmentOf(key), project, source, canonical({ ...defaults, ...message })]);
}
