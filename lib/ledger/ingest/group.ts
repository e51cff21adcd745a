import type { IngestResult } from "@/lib/contract/ledger/ingest-result";
import type { IngestRequest } from "@/lib/contract/ledger/message";
import { toInstant } from "@/lib/contract/values/instant";
import { newId } from "@/lib/db/new-id";
import { add, compare, subtract, toText, zero } from "@/lib/decimal";
import { ServiceError, type Verdict } from "@/lib/errors";
import type { Admission, LoadedKey } from "@/lib/keys/admission-queries";
import { AdmittedCalls } from "@/lib/keys/admitted-calls";
import type { ApiKey } from "@/lib/keys/api-key";
import { decideAttempt, decideCall, decideCost, decideKey } from "@/lib/keys/decide";
import { identify } from "@/lib/keys/identify";
import { bookOpen } from "@/lib/ledger/closing/book-open";
import { combineStatuses } from "@/lib/ledger/pricing/cost-status";
import type { PriceOverride } from "@/lib/ledger/pricing/price-message";
import {
  dueCharges,
  type PeriodCharge,
  postingsOfCharge,
  toSubscription,
} from "@/lib/ledger/recurring/charges";
import type { Relation } from "@/lib/ledger/telemetry/same-call";
import type { Settled } from "@/lib/ledger/telemetry/span-tree";
import { mapInSlices } from "@/lib/slices";
import { AllocationBook, type SpendRange } from "./allocation";
import { attemptOf } from "./attempt";
import { BudgetBook, type Planned, type UnknownPeriods } from "./budget-book";
import {
  type CallKeys,
  type IngestCall,
  type IngestVerdict,
  isProviderKey,
  type Recorded,
  type Submission,
} from "./call";
import { checkDuePeriods, checkLines, isRecurring } from "./call-bounds";
import { checkMessage, linesOf } from "./check";
import { type Composed, composeMessage } from "./compose";
import { Draft } from "./draft";
import { idempotencyConflict, rememberedRequest } from "./idempotency";
import { adjustedBy, listPriceOf, toIngestResult } from "./ingest-result";
import { type LedgerRow, rowOf, rowsOf } from "./ledger";
import {
  bestOf,
  isAlike,
  isSameContent,
  type ReadMessages,
  spansOf,
  TellingBook,
  type ToldCall,
  withFound,
} from "./telling-book";
import { againOf, answerOf, costOf, earlierAnswer } from "./told-again";

/**
 * Where a message is decided: the draft it goes into, whether that draft is a dry run's, and how many lines and past periods
 * the messages of its call before it have.
 */
type Place = { draft: Draft; dryRun: boolean; lines: number; duePeriods: number };

/** What a message records: itself, and the further periods of a recurring subscription that have begun by now. */
type Work = { own: Composed; due: PeriodCharge[] };

/**
 * A group of calls while it is decided. Calls are admitted one after another against the state that the earlier ones
 * leave, so that a limit holds inside a group as it does between groups. A dry run is decided in a fork of that state,
 * which its later messages see and no other call does. No I/O.
 */
export class Group {
  /** What the group is going to write. */
  readonly draft: Draft;
  readonly tellings: TellingBook;
  readonly #allocations = new AllocationBook();
  readonly #budgets: BudgetBook;
  readonly #admitted: AdmittedCalls;
  readonly #createdAt: string;

  constructor(
    private readonly admission: Admission,
    private readonly prices: Map<string, readonly PriceOverride[]>,
    read?: ReadMessages,
  ) {
    this.#createdAt = toInstant(admission.now);
    this.#admitted = new AdmittedCalls(admission.now);
    this.#budgets = new BudgetBook(admission.budgets);
    this.draft = Draft.from(admission);
    this.tellings = new TellingBook(admission.tellings, read);
    this.draft.knowProjects(this.tellings.projects);
  }

  /** What must be known of the ledger for allocations among these messages; `knowSpend` takes the answers. */
  spendToKnow(messages: { lookup: string; request: IngestRequest }[]): SpendRange[] {
    const { keys, now } = this.admission;
    return messages.flatMap(({ lookup, request: { message } }) => {
      const loaded = keys.get(lookup);
      if (message.type !== "allocation" || !loaded || checkMessage(message, now)) return [];
      return this.#allocations.rangesOf(loaded.key, message, this.draft, now);
    });
  }

  knowSpend(known: (Omit<SpendRange, "workspace_id"> & { amount_usd: string })[]): void {
    for (const { amount_usd, ...range } of known) this.#allocations.know(range, amount_usd);
  }

  /** What must be known of blocking budgets to decide this group; see `BudgetBook`. */
  unknownPeriods(): UnknownPeriods[] {
    return this.#budgets.unknownPeriods();
  }

  /** How many calls each rate-limited key was admitted. */
  admissions(): { loaded: LoadedKey; admitted: number }[] {
    return this.#admitted.list();
  }

  /** Decides a call. Long ones are decided in slices; nothing else may be asked of the group meanwhile. */
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
    const place = { draft: dryRun ? this.draft.fork() : this.draft, dryRun, lines: 0, duePeriods: 0 };
    const arrival = this.tellings.nextExport();
    const outcome = await mapInSlices(call.body, (request) =>
      request instanceof ServiceError ? request : this.#admitMessage(loaded, request, place),
    );
    this.#settleSpans(loaded, call, arrival, place);
    return { outcome, rate, caller };
  }

  /**
   * Remembers the spans of an export, and makes of what earlier exports told what it would be if all had come in one: a call around
   * another one is taken back, and calls get the names of the spans around them. The key decides what it may record.
   */
  #settleSpans(loaded: LoadedKey, { body, spans = [] }: IngestCall, arrival: number, place: Place): void {
    const { key } = loaded;
    if (body instanceof ServiceError || !key.permissions.includes("log_usage")) return;
    this.tellings.addSpans(key, spans);
    for (const request of body) {
      if (request instanceof ServiceError || !request.telling) continue;
      this.tellings.addSpans(key, spansOf(request));
    }
    for (const { call, isAround, around, names } of this.tellings.treeOf(key.id).settle(arrival)) {
      if (call.isVoided) continue;
      if (isAround) {
        this.#takeBack(loaded, call, place);
        continue;
      }
      this.#complete(loaded, call, { around, names }, place);
    }
  }

  /**
   * Corrects a call by what spans around it say that came in other exports: their names, and where one told the same counts and divides
   * them into more kinds, these. Where the key may not record it so, or its limit has no room for what it costs more, it stays.
   */
  #complete(
    loaded: LoadedKey,
    call: ToldCall,
    { around, names }: Pick<Settled<ToldCall>, "around" | "names">,
    { draft }: Place,
  ): void {
    const { key } = loaded;
    const { user, feature, project } = names;
    const denied = decideAttempt(key, {
      permissions: ["log_usage"],
      ...(project !== undefined && { projects: [project] }),
      ...(feature !== undefined && { features: [feature] }),
      ...(user !== undefined && { users: [user] }),
    });
    const divided = around.reduce<readonly LedgerRow[]>((rows, { tellings, postings }) => {
      const told = { tellings, postings, relation: "around" as const };
      return (
        (isAlike(call, tellings) && bestOf({ ...call, postings: rows as ToldCall["postings"] }, told)) || rows
      );
    }, call.postings);
    const known = project === undefined ? undefined : (draft.projectId(key.workspaceId, project) ?? "");
    const rows = denied ? divided : withFound(divided, names, known);
    if (isSameContent(rows, call.postings)) return;
    const more = subtract(costOf(rows), costOf(call.postings));
    if (compare(more, zero) > 0) {
      const planned = rows.map((posting) => ({ posting, projectId: posting.project_id }));
      const refusal =
        decideCost(key, draft.spentBy(loaded), more, this.admission.now) ??
        this.#budgets.decide(key, planned, draft, false);
      if (refusal) return;
    }
    if (key.monthlyLimit !== null) draft.addSpent(loaded, more);
    const id = newId();
    const corrected = rows.map((row) => ({
      ...row,
      id,
      created_at: this.#createdAt,
      project_id: row.project_id || draft.projectIn(key.workspaceId, project ?? ""),
    })) as [LedgerRow, ...LedgerRow[]];
    this.tellings.correct(call, corrected, "Completed by spans around it.");
  }

  /** Takes back what is recorded for a span around recorded calls. */
  #takeBack(loaded: LoadedKey, call: ToldCall, { draft }: Place): void {
    if (loaded.key.monthlyLimit !== null) draft.addSpent(loaded, subtract(zero, costOf(call.postings)));
    this.tellings.replace(call);
  }

  #admitMessage(loaded: LoadedKey, submitted: Submission, place: Place): Verdict<Recorded> {
    const { key } = loaded;
    const request = this.#apart(key, submitted);
    const { now } = this.admission;
    const { draft, dryRun } = place;
    const earlier = earlierAnswer(loaded, request, draft);
    const conflict =
      earlier?.meant && idempotencyConflict(request.idempotency_key ?? "", earlier.request, earlier.meant);
    // A replay was right when it was first sent; what depends on the time may not be any more.
    const isReplay = earlier !== undefined && !conflict;
    const invalid = isReplay ? undefined : checkMessage(request.message, now);
    if (invalid) return invalid;
    // What a message costs may depend on what its key may not know (an allocation's source): permissions come first.
    const denied = decideAttempt(key, { ...attemptOf(request, dryRun), ...(conflict && { conflict }) });
    if (denied) return denied;
    if (earlier) return this.#repeat(loaded, request, earlier, place);
    const same = request.telling && this.tellings.find(key.id, request.telling);
    if (same) return this.#join(loaded, request, same, place);
    const crowded =
      checkLines(request.message, place.lines) ?? checkDuePeriods(request.message, place.duePeriods, now);
    if (crowded) return crowded;
    const work = this.#compose(loaded, request, draft);
    if (work instanceof ServiceError) return work;
    const cost = work.due.reduce((total, { composed }) => add(total, composed.cost), work.own.cost);
    const refusal =
      decideCost(key, draft.spentBy(loaded), cost, now) ?? this.#decideBudgets(key, request, work, place);
    if (refusal) return refusal;
    if (key.monthlyLimit !== null) draft.addSpent(loaded, cost);
    place.lines += linesOf(request.message);
    place.duePeriods += work.due.length;
    return { result: this.#record(loaded, request, work, place), replayed: false };
  }

  /**
   * A call inside a span that told another call is one of its own: where what that span told has given way to other calls
   * inside it, or differs from this one and so gives way now.
   */
  #apart({ id }: ApiKey, request: Submission): Submission {
    const { telling } = request;
    if (!telling || telling.outer.length === 0) return request;
    const isSame = (call: ToldCall) => !call.isReplaced && isAlike(call, telling.tellings ?? []);
    const tree = this.tellings.treeOf(id);
    const isTakenOver = spansOf(request).some((span) => tree.isTakenOver(span, isSame));
    return isTakenOver ? { ...request, telling: { ...telling, outer: [] } } : request;
  }

  #decideBudgets(
    key: ApiKey,
    request: Submission,
    { own, due }: Work,
    { draft, dryRun }: Place,
  ): Verdict<null> {
    if (this.admission.budgets.length === 0) return null;
    const projectId = draft.projectId(key.workspaceId, request.project);
    const planned: Planned[] = own.postings.map((posting) => ({ posting, projectId }));
    const [, from] = planned;
    if (from && own.fromProject !== undefined)
      from.projectId = draft.projectId(key.workspaceId, own.fromProject);
    // The id of a later period is of no account here.
    const later = due.flatMap((charge) => postingsOfCharge(charge, ""));
    return this.#budgets.decide(
      key,
      [...planned, ...later.map((posting) => ({ posting, projectId }))],
      draft,
      dryRun,
    );
  }

  #compose(
    { key, closedUntil }: LoadedKey,
    { project, message }: IngestRequest,
    draft: Draft,
  ): Verdict<Work> {
    const { now } = this.admission;
    const book = (composed: Composed): Composed => {
      const postings = bookOpen(composed.postings, closedUntil, this.#createdAt);
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

  #record({ key }: LoadedKey, request: Submission, { own, due }: Work, place: Place): IngestResult {
    const { draft, dryRun } = place;
    const owner = this.#ownerOf(key, request, draft.projectIn(key.workspaceId, request.project));
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
      draft.subscriptions.push(toSubscription(owner, request.message, this.admission.now));
    }
    const answer = {
      id,
      amount_usd: toText(own.amount),
      project_id: owner.project_id,
      created_at: this.#createdAt,
      cost_status: combineStatuses(own.postings.map((posting) => posting.cost_status)),
      list_price_usd: listPriceOf(own.postings),
      rate: own.rate,
      due_periods: periods.length > 0 ? periods : undefined,
      adjusts: adjustedBy(own.postings),
      dry_run: dryRun ? (true as const) : undefined,
    };
    const remembered = { response: answer, message_id: id };
    if (request.idempotency_key !== undefined) {
      draft.addReplay({
        request: rememberedRequest(request, key.environment),
        workspace_id: key.workspaceId,
        keys: [request.idempotency_key],
        created_at: this.#createdAt,
        ...remembered,
      });
    }
    const { telling } = request;
    if (telling) {
      const marks = draft.marksOf(telling.within);
      this.#remember(key, [...telling.own, ...marks], remembered, draft);
      this.tellings.takeBack(owner, marks);
      this.tellings.addSums(
        { workspace_id: key.workspaceId, environment: key.environment, message_id: id },
        telling.sumOf ?? [],
      );
      const call = { messageId: id, tellings: [], postings: rows, isVoided: false };
      if (telling.tellings) this.tellings.add(key, call, telling.tellings, id);
    }
    return toIngestResult(answer);
  }

  /** Answers what was recorded before, and corrects that where another telling of the same call says more of it. */
  #repeat(
    loaded: LoadedKey,
    request: Submission,
    { response, known }: NonNullable<ReturnType<typeof earlierAnswer>>,
    place: Place,
  ): Recorded {
    const { key } = loaded;
    const { telling } = request;
    const answer = { result: toIngestResult(response), replayed: true };
    if (!telling) return answer;
    const { again, relation } =
      againOf(telling, known, (name) => this.#isRemembered(key, name, place.draft)) ?? {};
    this.#rememberTold(key, telling, response, place.draft);
    const { id } = response as { id: string };
    const isCertain = relation === "beside" && known !== undefined && isProviderKey(known);
    const call = relation && this.tellings.recordedAs(key, telling, id, isCertain);
    if (!call) return { ...answer, again };
    const by = call.tellings[0]?.emitter ?? call.postings[0].emitter ?? undefined;
    const isCorrected = this.#correct(loaded, request, call, relation, place);
    // A call is compared by its inner spans, as where all come in one export.
    if (isCorrected || relation !== "around") this.tellings.add(key, call, telling.tellings ?? [], id);
    return { ...answer, again: { as: "call", by } };
  }

  /** Answers another telling of a call that is recorded, and corrects what is recorded where this one says more of it. */
  #join(loaded: LoadedKey, request: Submission, call: ToldCall, place: Place): Recorded {
    const { draft } = place;
    const { key } = loaded;
    const { tellings = [], own, within } = request.telling as CallKeys;
    const by = call.tellings[0]?.emitter;
    const response = answerOf(call.postings);
    const marks = draft.marksOf(within);
    const id = call.messageId;
    this.#remember(key, [...own, ...marks], { message_id: id, response }, draft);
    this.tellings.takeBack({ workspace_id: key.workspaceId, environment: key.environment }, marks);
    this.#correct(loaded, request, call, "beside", place);
    this.tellings.add(key, call, tellings, id);
    return { result: toIngestResult(response), replayed: true, again: { as: "call", by } };
  }

  /** @returns whether what is recorded is corrected */
  #correct(
    loaded: LoadedKey,
    request: Submission,
    call: ToldCall,
    relation: Relation,
    place: Place,
  ): boolean {
    const better = call.isVoided ? undefined : this.#better(loaded, request, call, relation, place);
    if (better)
      this.tellings.correct(call, better, `Replaced by a more detailed report of ${request.emitter?.name}.`);
    return better !== undefined;
  }

  /**
   * What the ledger should have of a call that is told again; undefined where it has that already, or where the key's limit or
   * a budget has no room for what it costs more.
   */
  #better(
    loaded: LoadedKey,
    request: Submission,
    call: ToldCall,
    relation: Relation,
    place: Place,
  ): [LedgerRow, ...LedgerRow[]] | undefined {
    const { key } = loaded;
    const { draft } = place;
    const work = this.#compose(loaded, request, draft);
    if (work instanceof ServiceError) return undefined;
    const owner = this.#ownerOf(key, request, draft.projectId(key.workspaceId, request.project) ?? "");
    const told = {
      tellings: request.telling?.tellings ?? [],
      postings: rowsOf(owner, request.emitter, work.own.postings),
      relation,
    };
    const best = bestOf(call, told);
    if (!best) return undefined;
    const more = subtract(costOf(best), costOf(call.postings));
    if (compare(more, zero) > 0) {
      const refusal =
        decideCost(key, draft.spentBy(loaded), more, this.admission.now) ??
        this.#decideBudgets(key, request, work, place);
      if (refusal) return undefined;
    }
    if (key.monthlyLimit !== null) draft.addSpent(loaded, more);
    // A project that only this telling names is made once it is sure that it is used.
    if (owner.project_id === "") draft.projectIn(key.workspaceId, request.project);
    const projectId = draft.projectId(key.workspaceId, request.project) ?? "";
    return best.map((row) => ({
      ...row,
      id: owner.id,
      created_at: this.#createdAt,
      project_id: row.project_id === "" ? projectId : row.project_id,
    })) as [LedgerRow, ...LedgerRow[]];
  }

  #ownerOf(key: ApiKey, { source }: Submission, projectId: string) {
    return {
      workspace_id: key.workspaceId,
      id: newId(),
      created_at: this.#createdAt,
      api_key_id: key.id,
      source,
      environment: key.environment,
      project_id: projectId,
    };
  }

  /** Remembers the keys that are not known yet. */
  #remember(
    key: ApiKey,
    names: string[],
    answer: { message_id: string; response: Record<string, unknown> },
    draft: Draft,
  ): void {
    const { workspaceId, environment } = key;
    const keys = names.filter((name) => !this.#isRemembered(key, name, draft));
    if (keys.length === 0) return;
    draft.addReplay({
      workspace_id: workspaceId,
      keys: [...new Set(keys)],
      request: { environment },
      created_at: this.#createdAt,
      ...answer,
    });
  }

  /**
   * Remembers what another telling of a recorded message adds: what includes it was told, or what it includes. Its own keys
   * are left out where only a part of it was recorded, so that the other parts still count.
   */
  #rememberTold(key: ApiKey, telling: CallKeys, response: unknown, draft: Draft): void {
    const isWhole = [...telling.own, ...telling.outer].some((name) => this.#isRemembered(key, name, draft));
    const marks = draft.marksOf(telling.within);
    const names = isWhole ? [...telling.own, ...marks] : marks;
    const stored = response as Record<string, unknown>;
    this.#remember(key, names, { message_id: String(stored.id), response: stored }, draft);
    this.tellings.takeBack({ workspace_id: key.workspaceId, environment: key.environment }, marks);
  }

  #isRemembered({ workspaceId, environment }: ApiKey, name: string, draft: Draft): boolean {
    return draft.answerTo(workspaceId, environment, name) !== undefined;
  }
}
