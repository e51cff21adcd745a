import type { IngestRequest } from "@/lib/contract/ledger/message";
import { toInstant } from "@/lib/contract/values/instant";
import { newId } from "@/lib/db/new-id";
import { add, type Decimal, subtract, zero } from "@/lib/decimal";
import { ServiceError, type Verdict } from "@/lib/errors";
import type { Admission, LoadedKey } from "@/lib/keys/admission-queries";
import type { ApiKey } from "@/lib/keys/api-key";
import type { BlockingPeriod } from "@/lib/keys/blocking-budgets";
import { decideCost } from "@/lib/keys/decide";
import type { Hold } from "@/lib/keys/holds";
import { bookAsAdjustments } from "@/lib/ledger/closing/book-as-adjustments";
import type { PriceOverride } from "@/lib/ledger/pricing/price-message";
import { dueCharges, type PeriodCharge, postingsOfCharge } from "@/lib/ledger/recurring/charges";
import type { Submission } from "./call";
import { isRecurring } from "./call-bounds";
import { checkMessage } from "./check";
import { type Composed, composeMessage } from "./compose";
import type { Draft } from "./draft";
import { GroupAllocations, type SpendRange } from "./group-allocations";
import { GroupBudgets, isCovered, type Planned, type UnknownPeriods } from "./group-budgets";

/**
 * The context in which a message is decided. `draft`: takes its rows; in a dry run, a fork. `lines` and `duePeriods`: of the call's
 * earlier messages.
 */
export type MessageContext = { draft: Draft; dryRun: boolean; lines: number; duePeriods: number };

/** What a message records: its own postings, and for a recurring subscription the later periods that have begun by now. */
export type Work = { own: Composed; due: PeriodCharge[] };

/** Composes the messages of a group, and checks the limits of keys and blocking budgets. No I/O. */
export class GroupWork {
  readonly now: number;
  /** When the group is recorded, ISO 8601. */
  readonly createdAt: string;
  readonly #allocations = new GroupAllocations();
  readonly #budgets: GroupBudgets;

  constructor(
    private readonly admission: Admission,
    private readonly prices: Map<string, readonly PriceOverride[]>,
  ) {
    this.now = admission.now;
    this.createdAt = toInstant(admission.now);
    this.#budgets = new GroupBudgets(admission.budgets);
  }

  /** The stored spend that the allocations among these messages need; `knowSpend` takes it. */
  spendToKnow(messages: { lookup: string; request: IngestRequest }[], draft: Draft): SpendRange[] {
    const { keys, now } = this.admission;
    return messages.flatMap(({ lookup, request: { message } }) => {
      const loaded = keys.get(lookup);
      if (message.type !== "allocation" || !loaded || checkMessage(message, now)) return [];
      return this.#allocations.rangesOf(loaded.key, message, draft, now);
    });
  }

  knowSpend(known: (Omit<SpendRange, "workspace_id"> & { amount_usd: string })[]): void {
    for (const { amount_usd, ...range } of known) this.#allocations.know(range, amount_usd);
  }

  /** Periods of blocking budgets that must be loaded to decide this group; see `GroupBudgets`. */
  unknownPeriods(): UnknownPeriods[] {
    return this.#budgets.unknownPeriods();
  }

  compose({ key, closedUntil }: LoadedKey, { project, message }: IngestRequest, draft: Draft): Verdict<Work> {
    const { now } = this;
    const closed = { closedUntil, timeZone: key.timeZone };
    const book = (composed: Composed): Composed => {
      const postings = bookAsAdjustments(composed.postings, closed, this.createdAt);
      return postings === composed.postings ? composed : { ...composed, postings };
    };
    if (message.type === "allocation") {
      const own = this.#allocations.compose(key, project, message, draft, now);
      return own instanceof ServiceError ? own : { own: book(own), due: [] };
    }
    const own = composeMessage(message, { now, overrides: this.prices.get(key.workspaceId) ?? [] });
    const due = isRecurring(message) ? dueCharges(message, now) : [];
    return { own: book(own), due: due.map((charge) => ({ ...charge, composed: book(charge.composed) })) };
  }

  /**
   * Checks the key's monthly limit and the blocking budgets for a message. @returns the refusal, or null
   * @param cost of the message with its due periods, USD
   * @param hold the reservation that the message settles, if it is still held
   */
  decideLimits(
    loaded: LoadedKey,
    request: Submission,
    { own, due }: Work,
    cost: Decimal,
    { draft, dryRun }: Pick<MessageContext, "draft" | "dryRun">,
    hold?: Hold,
  ): Verdict<null> {
    const { key } = loaded;
    const held = subtract(draft.heldBy(key.id).usd, hold?.usd ?? zero);
    const isHeld = hold !== undefined && isCovered(cost, hold.usd);
    const refusal = isHeld ? null : decideCost(key, draft.spentBy(loaded), cost, this.now, held);
    if (refusal || this.admission.budgets.length === 0) return refusal;
    const projectId = draft.projectId(key.workspaceId, request.project);
    const planned: Planned[] = own.postings.map((posting) => ({ posting, projectId }));
    const [, from] = planned;
    if (from && own.fromProject !== undefined)
      from.projectId = draft.projectId(key.workspaceId, own.fromProject);
    // Budgets do not depend on the ids of the periods.
    const later = due.flatMap((charge) => postingsOfCharge(charge, ""));
    return this.#budgets.decide(
      key,
      [...planned, ...later.map((posting) => ({ posting, projectId }))],
      draft,
      dryRun,
      hold,
    );
  }

  /** The present periods of the blocking budgets that count a reservation. */
  periodsOf(key: ApiKey, hold: Hold): BlockingPeriod[] {
    return this.#budgets.periodsOf(key, hold);
  }

  /** Like `decideLimits`, for a correction. @param planned its postings @param more what it adds to the cost, USD */
  decideCorrection(
    loaded: LoadedKey,
    planned: readonly Planned[],
    more: Decimal,
    { draft, dryRun }: MessageContext,
  ): Verdict<null> {
    return (
      decideCost(loaded.key, draft.spentBy(loaded), more, this.now, draft.heldBy(loaded.key.id).usd) ??
      this.#budgets.decide(loaded.key, planned, draft, dryRun)
    );
  }

  /** The columns of a new message that identify it, its sender and its project. */
  ownerOf(key: ApiKey, { source }: Submission, projectId: string) {
    return {
      workspace_id: key.workspaceId,
      id: newId(),
      created_at: this.createdAt,
      api_key_id: key.id,
      source,
      environment: key.environment,
      project_id: projectId,
    };
  }
}

/** The cost of a message with its due periods, USD. */
export function costOfWork({ own, due }: Work): Decimal {
  return due.reduce((total, { composed }) => add(total, composed.cost), own.cost);
}
