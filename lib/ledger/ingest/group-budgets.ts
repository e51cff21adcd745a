import { add, compare, type Decimal, parseDecimal, subtract, zero } from "@/lib/decimal";
import type { ServiceError } from "@/lib/errors";
import type { ApiKey } from "@/lib/keys/api-key";
import {
  type BlockingBudget,
  type BlockingPeriod,
  type Budgeted,
  budgetExceeded,
  isCounted,
  isInScope,
  isUsedUp,
  lowerAsPostgres,
  mayReadBudget,
  resetOf,
} from "@/lib/keys/blocking-budgets";
import type { Hold } from "@/lib/keys/holds";
import type { Draft } from "./draft";
import type { Posting } from "./ledger";

/** A posting that is not recorded yet. `projectId`: undefined if the posting creates its project, which no budget covers yet. */
export type Planned = { posting: Posting; projectId: string | undefined };

/** Instants of a workspace's postings for which no budget period is loaded, in milliseconds since 1970. */
export type UnknownPeriods = { workspace_id: string; at: number[] };

/** What a message adds to a budget's period. `isUnpriced`: part of the message has no price yet and may get one. */
type Change = { budget: BlockingBudget; period: BlockingPeriod; usd: Decimal; isUnpriced: boolean };

/** Fifteen minutes of UTC: in every time zone they lie within one day. */
const stepMs = 15 * 60_000;

/** Decides, within a group of calls, whether blocking budgets leave room for messages. */
export class GroupBudgets {
  readonly #unknown = new Map<string, Set<number>>();
  /** By workspace. */
  readonly #budgets = new Map<string, BlockingBudget[]>();

  constructor(budgets: readonly BlockingBudget[]) {
    for (const budget of budgets) {
      const others = this.#budgets.get(budget.workspace_id);
      if (others) others.push(budget);
      else this.#budgets.set(budget.workspace_id, [budget]);
    }
  }

  /** Periods that a decision needed but that were not loaded. If there are any, the caller loads them and decides the group again. */
  unknownPeriods(): UnknownPeriods[] {
    return [...this.#unknown].map(([workspace_id, at]) => ({ workspace_id, at: [...at] }));
  }

  /**
   * Decides whether a message may be recorded, and counts it if so. The spend of a budget may reach its limit but not exceed it, in any
   * period of the message's postings. A budget that is used up admits only messages that are known to cost nothing.
   *
   * Amounts held by reservations count like spend, except for messages that are known to cost nothing. A message that settles a
   * reservation is always admitted up to twice the held amount, because its call has been made.
   *
   * A key that may not read a budget could find out what is left of it by dry runs, which leave no record. Therefore a dry run is
   * refused only by budgets that the key may read or that are used up.
   * @returns the refusal of the budget that resets last, or null
   */
  decide(
    key: ApiKey,
    planned: readonly Planned[],
    draft: Draft,
    isDryRun: boolean,
    own?: Hold,
  ): ServiceError | null {
    const changes = this.#changesOf(key, planned);
    let refused: Change | undefined;
    for (const change of changes) {
      const { budget, period } = change;
      const isHidden = isDryRun && !mayReadBudget(key, budget);
      if (isHidden && !isUsedUp(period, period.spent)) continue;
      const ownUsd = own && isInScope(budget, own.budgeted) ? own.usd : zero;
      if (isCovered(change.usd, ownUsd)) continue;
      const held = subtract(draft.heldIn(period), period.isPresent ? ownUsd : zero);
      if (!isRefused(change, isHidden ? period.spent : draft.spentIn(period), held)) continue;
      if (!refused || resetOf(change.budget, change.period) > resetOf(refused.budget, refused.period))
        refused = change;
    }
    if (refused) {
      const { budget, period } = refused;
      return budgetExceeded(
        mayReadBudget(key, budget),
        budget,
        period,
        draft.spentIn(period),
        draft.heldIn(period),
      );
    }
    for (const { period, usd } of changes) draft.addSpentIn(period, usd);
    return null;
  }

  /** The present periods of the blocking budgets that count a reservation. */
  periodsOf(key: ApiKey, hold: Hold): BlockingPeriod[] {
    const budgets = key.environment === "live" ? (this.#budgets.get(key.workspaceId) ?? []) : [];
    return budgets.flatMap((budget) =>
      isInScope(budget, hold.budgeted) ? budget.periods.filter(({ isPresent }) => isPresent) : [],
    );
  }

  #changesOf(key: ApiKey, planned: readonly Planned[]): Change[] {
    // Only live spend counts.
    const budgets = key.environment === "live" ? this.#budgets.get(key.workspaceId) : undefined;
    if (!budgets) return [];
    const lines = planned.map((each) => toLine(key, each));
    const changes: Change[] = [];
    for (const budget of budgets) {
      const ofBudget: Change[] = [];
      for (const line of lines) {
        if (!isInScope(budget, line.budgeted)) continue;
        const period = this.#periodOf(budget, line.at);
        if (!period) continue;
        const known = ofBudget.find((change) => change.period === period);
        if (!known) ofBudget.push({ budget, period, usd: line.usd, isUnpriced: line.isUnpriced });
        else {
          known.usd = add(known.usd, line.usd);
          known.isUnpriced ||= line.isUnpriced;
        }
      }
      changes.push(...ofBudget);
    }
    return changes;
  }

  #periodOf(budget: BlockingBudget, at: number): BlockingPeriod | undefined {
    if (!isCounted(budget, at)) return undefined;
    const period = budget.periods.find(({ startsAt, endsAt }) => at >= startsAt && at < endsAt);
    if (!period) {
      const unknown = this.#unknown.get(budget.workspace_id) ?? new Set();
      this.#unknown.set(budget.workspace_id, unknown.add(Math.floor(at / stepMs) * stepMs));
    }
    return period;
  }
}

/** A posting as budgets see it. `at`: milliseconds since 1970. */
type BudgetedLine = { budgeted: Budgeted; at: number; usd: Decimal; isUnpriced: boolean };

function toLine(key: ApiKey, { posting, projectId }: Planned): BudgetedLine {
  const { provider, model, feature, end_user: user, tags } = posting;
  return {
    budgeted: {
      project: projectId,
      key: key.id,
      provider: provider === undefined ? undefined : lowerAsPostgres(provider),
      model,
      feature,
      user,
      tags,
    },
    at: Date.parse(posting.occurred_at),
    usd: parseDecimal(posting.amount_usd),
    isUnpriced: posting.cost_status === "unpriced",
  };
}

function isRefused({ period, usd, isUnpriced }: Change, spent: Decimal, held: Decimal): boolean {
  const costs = compare(usd, zero);
  if (isUsedUp(period, spent)) return costs > 0 || (costs === 0 && isUnpriced);
  return costs > 0 && compare(add(add(spent, held), usd), period.limit) > 0;
}

/** Whether a message costs at most twice what its reservation holds. */
export const isCovered = (usd: Decimal, held: Decimal): boolean =>
  compare(held, zero) > 0 && compare(usd, add(held, held)) <= 0;
