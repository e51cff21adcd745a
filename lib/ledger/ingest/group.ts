import type { IngestResult } from "@/lib/contract/ledger/ingest-result";
import { newId } from "@/lib/db/new-id";
import { toText } from "@/lib/decimal";
import { ServiceError, type Verdict } from "@/lib/errors";
import type { Admission, LoadedKey } from "@/lib/keys/admission-queries";
import { AdmittedCalls } from "@/lib/keys/admitted-calls";
import type { ApiKey } from "@/lib/keys/api-key";
import { decideAttempt, decideCall, decideKey } from "@/lib/keys/decide";
import { type Hold, toHold } from "@/lib/keys/holds";
import { identify } from "@/lib/keys/identify";
import { combineStatuses } from "@/lib/ledger/pricing/cost-status";
import type { PriceOverride } from "@/lib/ledger/pricing/price-message";
import { postingsOfCharge, toSubscription } from "@/lib/ledger/recurring/charges";
import { mapInSlices } from "@/lib/slices";
import { attemptOf } from "./attempt";
import type { IngestCall, IngestVerdict, Recorded, Submission } from "./call";
import { checkDuePeriods, checkLines, isRecurring } from "./call-bounds";
import { checkMessage, linesOf } from "./check";
import { Draft } from "./draft";
import { DuplicateReports } from "./duplicate-reports";
import { earlierAnswer } from "./earlier-answer";
import { costOfWork, GroupWork, type MessageContext, type Work } from "./group-work";
import { idempotencyConflict, rememberedRequest } from "./idempotency";
import { adjustedBy, listPriceOf, overLimit, settlementOf, toIngestResult } from "./ingest-result";
import { rowOf, rowsOf } from "./ledger";
import { RefusedMessages } from "./refused-messages";
import { ReportedCalls } from "./reported-calls";
import { SpanSettling } from "./settle-spans";
import type { ReadMessages } from "./wanted-reports";

/**
 * Decides a group of calls. Calls are admitted one after another, each against the state that the earlier ones leave, so that a limit
 * holds within a group as it does between groups. A dry run is decided in a fork of that state, which no other call sees. No I/O.
 */
export class Group {
  /** What the group is going to write. */
  readonly draft: Draft;
  readonly reports: ReportedCalls;
  readonly work: GroupWork;
  readonly refused: RefusedMessages;
  readonly #admitted: AdmittedCalls;
  readonly #duplicates: DuplicateReports;
  readonly #spans: SpanSettling;

  constructor(
    private readonly admission: Admission,
    prices: Map<string, readonly PriceOverride[]>,
    read?: ReadMessages,
  ) {
    this.#admitted = new AdmittedCalls(admission.now);
    this.work = new GroupWork(admission, prices);
    this.draft = Draft.from(admission);
    this.refused = new RefusedMessages(admission);
    this.reports = new ReportedCalls(admission.reports, read);
    this.draft.knowProjects(this.reports.projects);
    this.#duplicates = new DuplicateReports(this.work, this.reports);
    this.#spans = new SpanSettling(this.work, this.reports);
  }

  /** The number of admitted calls of each rate-limited key. */
  admissions(): { loaded: LoadedKey; admitted: number }[] {
    return this.#admitted.list();
  }

  /** Decides a call. A long call is decided in slices; the caller must await it before it admits the next. */
  async admit(call: IngestCall): Promise<IngestVerdict> {
    const identified = identify(this.admission, call);
    if (identified instanceof ServiceError) return { outcome: identified, rate: null };
    const { loaded, token } = identified;
    const { now } = this.admission;
    const { refusal, rate } = call.isAdmitted
      ? { refusal: decideKey(loaded.key, call.address, now), rate: null }
      : decideCall(loaded.key, loaded.usage, call.address, now);
    if (refusal) return { outcome: refusal, rate };
    if (rate) this.#admitted.add(loaded);
    const caller = { key: loaded.key, token };
    if (call.body instanceof ServiceError) return { outcome: call.body, rate, caller };
    const { dryRun } = call;
    const context = { draft: dryRun ? this.draft.fork() : this.draft, dryRun, lines: 0, duePeriods: 0 };
    const arrival = this.reports.nextExport();
    const outcome = await mapInSlices(call.body, (request) =>
      request instanceof ServiceError ? request : this.#admitMessage(loaded, request, context),
    );
    this.#spans.settle(loaded, call, arrival, context);
    return { outcome, rate, caller };
  }

  #admitMessage(loaded: LoadedKey, submitted: Submission, context: MessageContext): Verdict<Recorded> {
    const { key } = loaded;
    const request = this.#spans.apart(loaded, submitted, context.draft);
    const { now } = this.admission;
    const { draft, dryRun } = context;
    const earlier = earlierAnswer(loaded, request, draft);
    const conflict =
      earlier?.meant && idempotencyConflict(request.idempotency_key ?? "", earlier.request, earlier.meant);
    // A replay was valid when it was first sent, but rules that depend on the time may refuse it now.
    const isReplay = earlier !== undefined && !conflict;
    const invalid = isReplay ? undefined : checkMessage(request.message, now);
    if (invalid) return invalid;
    // Permissions come first: the cost of an allocation depends on its source's spend, which the key may not be allowed to read.
    const denied = decideAttempt(key, { ...attemptOf(request, dryRun), ...(conflict && { conflict }) });
    if (denied) return denied;
    if (earlier) return this.#duplicates.repeat(loaded, request, earlier, context);
    const same = request.callKeys && this.reports.find(key.id, request.callKeys);
    if (same) {
      this.refused.record(key, request);
      return this.#duplicates.join(loaded, request, same, context);
    }
    const crowded =
      checkLines(request.message, context.lines) ?? checkDuePeriods(request.message, context.duePeriods, now);
    if (crowded) return crowded;
    const work = this.work.compose(loaded, request, draft);
    if (work instanceof ServiceError) return work;
    const cost = costOfWork(work);
    const named = this.#reservationOf(key, request);
    const hold =
      named?.is_held && !draft.isSettled(named.id)
        ? toHold(named, draft.projectId(key.workspaceId, named.project))
        : undefined;
    const refusal = this.work.decideLimits(loaded, request, work, cost, context, hold);
    if (refusal) {
      if (!dryRun) this.refused.refuse(key, request, work, cost, refusal);
      return refusal;
    }
    if (!dryRun) this.refused.record(key, request);
    if (key.monthlyLimit !== null) draft.addSpent(loaded, cost);
    context.lines += linesOf(request.message);
    context.duePeriods += work.due.length;
    return { result: this.#record(loaded, request, work, context, hold), replayed: false };
  }

  /** The reservation that a message names, if it belongs to the same key. */
  #reservationOf(key: ApiKey, { reservation_id: id }: Submission) {
    if (id === undefined) return undefined;
    return this.admission.held.named.find((row) => row.id === id && row.api_key_id === key.id);
  }

  #record(
    loaded: LoadedKey,
    request: Submission,
    { own, due }: Work,
    context: MessageContext,
    hold: Hold | undefined,
  ): IngestResult {
    const { key } = loaded;
    const { draft, dryRun } = context;
    const owner = this.work.ownerOf(key, request, draft.projectIn(key.workspaceId, request.project));
    const { id } = owner;
    const rows = rowsOf(owner, request.emitter, own.postings);
    if (rows[1] && own.fromProject !== undefined)
      rows[1].project_id = draft.projectIn(key.workspaceId, own.fromProject);
    for (const row of rows) draft.addMessage(row);
    const periods = due.map((charge) => {
      const periodId = newId();
      for (const posting of postingsOfCharge(charge, id))
        draft.addMessage(rowOf({ ...owner, id: periodId }, posting));
      return { id: periodId, starts_on: charge.startsOn, amount_usd: toText(charge.composed.amount) };
    });
    if (isRecurring(request.message)) {
      draft.subscriptions.push(toSubscription(owner, request.message, this.work.now));
    }
    if (hold) {
      const settled = { workspace_id: key.workspaceId, id: hold.id, message_id: id, usd: toText(own.cost) };
      draft.settle(key.id, settled, hold.usd, this.work.periodsOf(key, hold));
    }
    const answer = {
      id,
      amount_usd: toText(own.amount),
      project_id: owner.project_id,
      created_at: this.work.createdAt,
      cost_status: combineStatuses(own.postings.map((posting) => posting.cost_status)),
      list_price_usd: listPriceOf(own.postings),
      rate: own.rate,
      due_periods: periods.length > 0 ? periods : undefined,
      adjusts: adjustedBy(own.postings),
      over_limit: overLimit(key, draft.spentBy(loaded)),
      reservation: settlementOf(
        request.reservation_id,
        hold,
        this.#reservationOf(key, request)?.state,
        own.cost,
      ),
      dry_run: dryRun ? (true as const) : undefined,
    };
    const remembered = { response: answer, message_id: id };
    if (request.idempotency_key !== undefined) {
      draft.addReplay({
        request: rememberedRequest(request, key.environment),
        workspace_id: key.workspaceId,
        keys: [request.idempotency_key],
        created_at: this.work.createdAt,
        ...remembered,
      });
    }
    const { callKeys } = request;
    if (callKeys) {
      const marks = draft.marksOf(callKeys.within);
      this.#duplicates.remember(key, [...callKeys.own, ...marks], remembered, draft);
      this.reports.takeBack(owner, marks);
      this.reports.addSums(
        { workspace_id: key.workspaceId, environment: key.environment, message_id: id },
        callKeys.sumOf ?? [],
      );
      const call = { messageId: id, reports: [], postings: rows, isVoided: false };
      if (callKeys.reports) this.reports.add(key, call, callKeys.reports, id);
    }
    return toIngestResult(answer);
  }
}
