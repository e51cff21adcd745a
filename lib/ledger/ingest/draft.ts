import { postedOn } from "@/lib/contract/values/clock";
import { exactMs } from "@/lib/contract/values/instant";
import { newId } from "@/lib/db/new-id";
import { add, type Decimal, parseDecimal, subtract, zero } from "@/lib/decimal";
import type { Admission, LoadedKey } from "@/lib/keys/admission-queries";
import type { BlockingPeriod } from "@/lib/keys/blocking-budgets";
import type { NewSubscription } from "@/lib/ledger/recurring/charges";
import { type Around, marksAround } from "./call";
import type { RememberedRequest } from "./idempotency";
import type { LedgerRow } from "./ledger";
import type { NewProject, Replay } from "./store-messages";

/** A reservation with the message that settles it. `usd`: the cost of the message, exact text. */
export type SettledHold = { workspace_id: string; id: string; message_id: string; usd: string };

/** The stored request and answer of an idempotency key. */
type Answer = { request: unknown; response: unknown };

type Environment = RememberedRequest["environment"];

/**
 * What a group is going to write, and what its later messages must know of earlier ones: projects, answers and spend. A fork reads its
 * base but never changes it: a dry run is decided in a fork, which is then discarded.
 */
export class Draft {
  readonly projects: NewProject[] = [];
  readonly messages: LedgerRow[] = [];
  readonly replays: Replay[] = [];
  readonly subscriptions: NewSubscription[] = [];
  readonly #zones = new Map<string, string>();
  readonly #projectIds = new Map<string, string>();
  /** By workspace, then environment, then key. A combined key would cost a new string for each of many look-ups. */
  readonly #answers = new Map<string, Record<Environment, Map<string, Answer>>>();
  readonly #around = new Set<Around>();
  readonly #spent = new Map<LoadedKey, Decimal>();
  readonly #spentIn = new Map<BlockingPeriod, Decimal>();
  readonly #heldBy = new Map<string, { usd: Decimal; count: number }>();
  readonly #heldIn = new Map<BlockingPeriod, Decimal>();
  readonly #settled = new Map<string, SettledHold>();
  /** The sums of the first `#summed` rows, by project and environment, then by day. */
  readonly #days = new Map<string, Map<string, Decimal>>();
  #summed = 0;

  private constructor(private readonly base: Draft | undefined) {}

  /** An empty draft based on what was loaded from the database. */
  static from({
    keys,
    projects,
    replays,
    held,
  }: Pick<Admission, "keys" | "projects" | "replays" | "held">): Draft {
    const draft = new Draft(undefined);
    for (const [id, one] of held.keys) draft.#heldBy.set(id, one);
    for (const { key } of keys.values()) draft.#zones.set(key.workspaceId, key.timeZone);
    draft.knowProjects(projects);
    for (const { workspace_id, key, request, response } of replays) {
      const { environment } = request as RememberedRequest;
      draft.#answersIn(workspace_id)[environment].set(key, { request, response });
    }
    return draft;
  }

  /** The time zone of a workspace of the group. */
  zoneOf(workspaceId: string): string {
    return this.#zones.get(workspaceId) ?? this.base?.zoneOf(workspaceId) ?? "UTC";
  }

  /** Adds projects that exist already. */
  knowProjects(projects: Admission["projects"]): void {
    for (const { workspace_id, slug, id } of projects) this.#projectIds.set(`${workspace_id} ${slug}`, id);
  }

  fork(): Draft {
    return new Draft(this);
  }

  projectId(workspaceId: string, slug: string): string | undefined {
    return this.#projectIds.get(`${workspaceId} ${slug}`) ?? this.base?.projectId(workspaceId, slug);
  }

  /** The id of a project, which is created if the slug is new. */
  projectIn(workspaceId: string, slug: string): string {
    const known = this.projectId(workspaceId, slug);
    if (known !== undefined) return known;
    const id = newId();
    this.addProject({ workspace_id: workspaceId, id, slug, name: slug });
    return id;
  }

  addProject(project: NewProject): void {
    this.#projectIds.set(`${project.workspace_id} ${project.slug}`, project.id);
    this.projects.push(project);
  }

  answerTo(workspaceId: string, environment: Environment, key: string): Answer | undefined {
    return (
      this.#answers.get(workspaceId)?.[environment].get(key) ??
      this.base?.answerTo(workspaceId, environment, key)
    );
  }

  #answersIn(workspaceId: string): Record<Environment, Map<string, Answer>> {
    const known = this.#answers.get(workspaceId);
    if (known) return known;
    const answers = { live: new Map(), test: new Map() };
    this.#answers.set(workspaceId, answers);
    return answers;
  }

  addReplay(replay: Replay): void {
    const { workspace_id, keys, request } = replay;
    const answers = this.#answersIn(workspace_id)[request.environment];
    for (const key of keys) answers.set(key, replay);
    this.replays.push(replay);
  }

  /** The marks around a recorded message (`marksAround`) that this draft has not stored yet. */
  marksOf(within: readonly Around[]): string[] {
    return marksAround(within, this.#around);
  }

  /** A key's spend in this UTC month, USD. Loaded only for keys with a limit. */
  spentBy(loaded: LoadedKey): Decimal {
    return this.#spent.get(loaded) ?? this.base?.spentBy(loaded) ?? loaded.usage.spent;
  }

  addSpent(loaded: LoadedKey, cost: Decimal): void {
    this.#spent.set(loaded, add(this.spentBy(loaded), cost));
  }

  /** The spend in a period of a blocking budget, USD. */
  spentIn(period: BlockingPeriod): Decimal {
    return this.#spentIn.get(period) ?? this.base?.spentIn(period) ?? period.spent;
  }

  addSpentIn(period: BlockingPeriod, usd: Decimal): void {
    this.#spentIn.set(period, add(this.spentIn(period), usd));
  }

  /** The amount that a key's reservations hold, USD, and their number. */
  heldBy(keyId: string): { usd: Decimal; count: number } {
    return this.#heldBy.get(keyId) ?? this.base?.heldBy(keyId) ?? { usd: zero, count: 0 };
  }

  /** The amount that reservations hold in a period of a blocking budget, USD. */
  heldIn(period: BlockingPeriod): Decimal {
    return this.#heldIn.get(period) ?? this.base?.heldIn(period) ?? period.held;
  }

  /** Adds the amount of a reservation. @param periods of the blocking budgets that count it */
  addHeld(keyId: string, usd: Decimal, periods: readonly BlockingPeriod[]): void {
    this.#changeHeld(keyId, usd, 1, periods);
  }

  /** Settles a reservation, which releases its amount. @param held that amount, USD @param periods of the budgets that count it */
  settle(keyId: string, settled: SettledHold, held: Decimal, periods: readonly BlockingPeriod[]): void {
    this.#settled.set(settled.id, settled);
    this.#changeHeld(keyId, subtract(zero, held), -1, periods);
  }

  #changeHeld(keyId: string, usd: Decimal, count: number, periods: readonly BlockingPeriod[]): void {
    const held = this.heldBy(keyId);
    this.#heldBy.set(keyId, { usd: add(held.usd, usd), count: held.count + count });
    for (const period of periods) this.#heldIn.set(period, add(this.heldIn(period), usd));
  }

  /** Whether a message of this draft settled a reservation. */
  isSettled(id: string): boolean {
    return this.#settled.has(id) || (this.base?.isSettled(id) ?? false);
  }

  /** The reservations that this draft settles. */
  get settled(): SettledHold[] {
    return [...this.#settled.values()];
  }

  addMessage(row: LedgerRow): void {
    this.messages.push(row);
  }

  /** The sum of this draft's rows for a project, from the day `from` until before the day `until`, USD. */
  draftedSpend(range: { project_id: string; environment: string; from: string; until: string }): Decimal {
    this.#sumDays();
    let total = this.base?.draftedSpend(range) ?? zero;
    for (const [day, amount] of this.#days.get(`${range.project_id} ${range.environment}`) ?? []) {
      if (day >= range.from && day < range.until) total = add(total, amount);
    }
    return total;
  }

  /** Adds new rows to the sums by day, which only allocations need. */
  #sumDays(): void {
    for (; this.#summed < this.messages.length; this.#summed += 1) {
      const row = this.messages[this.#summed] as LedgerRow;
      const place = `${row.project_id} ${row.environment}`;
      const days = this.#days.get(place) ?? new Map<string, Decimal>();
      this.#days.set(place, days);
      // An adjustment of a closed month counts for the day that it adjusts.
      const day = postedOn(this.zoneOf(row.workspace_id), exactMs(row.adjusts ?? row.occurred_at));
      days.set(day, add(days.get(day) ?? zero, parseDecimal(row.amount_usd)));
    }
  }
}
