import { ExactNumber } from "@/lib/contract/exact-number";
import { toInstant } from "@/lib/contract/instant";
import type { CostMessage, IngestRequest, IngestResult } from "@/lib/contract/message";
import { newId } from "@/lib/db/new-id";
import { ServiceError } from "@/lib/errors";
import { invalidCredentials } from "@/lib/keys/credentials";
import {
  type Attempt,
  decideAttempt,
  decideCall,
  decideCost,
  decideKey,
  rateWindowMs,
} from "@/lib/keys/decide";
import type { Admission, LoadedKey } from "@/lib/keys/queries";
import { add, toText } from "@/lib/pricing/decimal";
import type { PriceOverride } from "@/lib/pricing/price-message";
import { AllocationBook, type SpendRange } from "./allocation";
import { type IngestCall, type IngestVerdict, permissionOf, type Recorded } from "./call";
import { type Composed, composeMessage } from "./compose";
import { idempotencyConflict, rememberedRequest } from "./idempotency";
import type { LedgerRow } from "./ledger";
import type { NewProject, Replay } from "./queries";
import { type NewSubscription, toSubscription } from "./recurring";

/**
 * A group of calls while it is decided, and what it is going to write. Calls are admitted one after another against the
 * state that the earlier ones leave, so that a limit holds inside a group as it does between groups. No I/O.
 */
export class Group {
  readonly projects: NewProject[] = [];
  readonly messages: LedgerRow[] = [];
  readonly replays: Replay[] = [];
  readonly subscriptions: NewSubscription[] = [];
  readonly #allocations: AllocationBook;
  readonly #projectIds: Map<string, string>;
  readonly #answers: Map<string, { request: unknown; response: unknown }>;
  readonly #admitted = new Map<LoadedKey, number>();
  readonly #createdAt: string;

  constructor(
    private readonly admission: Admission,
    private readonly prices: Map<string, readonly PriceOverride[]>,
  ) {
    this.#createdAt = toInstant(admission.now);
    this.#projectIds = new Map(admission.projects.map((row) => [`${row.workspace_id} ${row.slug}`, row.id]));
    this.#answers = new Map(admission.replays.map((row) => [`${row.workspace_id} ${row.key}`, row]));
    this.#allocations = new AllocationBook(this.messages, (workspaceId, slug) =>
      this.#projectIds.get(`${workspaceId} ${slug}`),
    );
  }

  /** What must be known of the ledger for percentages among these messages; `knowSpend` takes the answers. */
  spendToKnow(messages: { lookup: string; request: IngestRequest }[]): SpendRange[] {
    return messages.flatMap(({ lookup, request: { message } }) => {
      const loaded = this.admission.keys.get(lookup);
      return (loaded && this.#allocations.rangeOf(loaded.key, message, this.admission.now)) ?? [];
    });
  }

  knowSpend(known: (Omit<SpendRange, "workspace_id"> & { amount_usd: string })[]): void {
    for (const { amount_usd, ...range } of known) this.#allocations.know(range, amount_usd);
  }

  /** How many calls each rate-limited key was admitted. */
  admissions(): { loaded: LoadedKey; admitted: number }[] {
    return [...this.#admitted].map(([loaded, admitted]) => ({ loaded, admitted }));
  }

  admit(call: IngestCall): IngestVerdict {
    const loaded = this.admission.keys.get(call.lookup.value);
    if (!loaded) return { outcome: invalidCredentials(), rate: null };
    const { now } = this.admission;
    const { refusal, rate } = call.isAdmitted
      ? { refusal: decideKey(loaded.key, call.address, now), rate: null }
      : decideCall(loaded.key, loaded.usage, call.address, now);
    if (refusal) return { outcome: refusal, rate };
    if (rate) this.#countCall(loaded);
    if (call.body instanceof ServiceError) return { outcome: call.body, rate };
    const outcome = call.body.map((request) =>
      request instanceof ServiceError ? request : this.#admitMessage(loaded, request, call.dryRun),
    );
    return { outcome, rate };
  }

  #countCall(loaded: LoadedKey): void {
    const { window } = loaded.usage;
    window.used += 1;
    window.freesAt ??= this.admission.now + rateWindowMs;
    this.#admitted.set(loaded, (this.#admitted.get(loaded) ?? 0) + 1);
  }

  #admitMessage(loaded: LoadedKey, request: IngestRequest, dryRun: boolean): Recorded | ServiceError {
    const { key, usage } = loaded;
    const { now } = this.admission;
    const earlier = this.#earlierAnswer(loaded, request);
    const conflict =
      earlier && idempotencyConflict(request.idempotency_key ?? "", earlier.request, earlier.meant);
    // What a message costs may depend on what its key may not know (an allocation's source): permissions come first.
    const denied = decideAttempt(key, { ...attemptOf(request), ...(conflict && { conflict }) });
    if (denied) return denied;
    if (earlier) return { result: readAnswer(earlier.response), replayed: true };
    const composed = this.#compose(loaded, request);
    if (composed instanceof ServiceError) return composed;
    const refusal = decideCost(key, usage, composed.cost, now);
    if (refusal) return refusal;
    if (!dryRun) usage.spent = add(usage.spent, composed.cost);
    return { result: this.#record(loaded, request, composed, dryRun), replayed: false };
  }

  #earlierAnswer({ key }: LoadedKey, request: IngestRequest) {
    if (request.idempotency_key === undefined) return undefined;
    const earlier = this.#answers.get(`${key.workspaceId} ${request.idempotency_key}`);
    return earlier && { ...earlier, meant: rememberedRequest(request, key.environment) };
  }

  #compose({ key }: LoadedKey, { project, message }: IngestRequest): Composed | ServiceError {
    const { now } = this.admission;
    if (message.type === "allocation") return this.#allocations.compose(key, project, message, now);
    return composeMessage(message, { now, overrides: this.prices.get(key.workspaceId) ?? [] });
  }

  #record({ key }: LoadedKey, request: IngestRequest, composed: Composed, dryRun: boolean): IngestResult {
    const createdAt = this.#createdAt;
    const id = newId();
    const answer = {
      id,
      amount_usd: toText(composed.amount),
      project_id: this.#projectId(key.workspaceId, request.project, dryRun),
      created_at: createdAt,
      cost_status: composed.postings[0].cost_status,
    };
    if (dryRun) return { ...readAnswer(answer), dry_run: true };
    const owner = {
      workspace_id: key.workspaceId,
      id,
      created_at: createdAt,
      api_key_id: key.id,
      source: request.source,
      environment: key.environment,
    };
    for (const { project = request.project, ...posting } of composed.postings) {
      this.messages.push({
        ...posting,
        ...owner,
        project_id: this.#projectId(key.workspaceId, project, false),
      });
    }
    if (isRecurring(request.message)) {
      this.subscriptions.push(
        toSubscription({ ...owner, project_id: answer.project_id }, request.message, this.admission.now),
      );
    }
    this.#remember(key, request, answer);
    return readAnswer(answer);
  }

  #remember(key: LoadedKey["key"], request: IngestRequest, answer: { id: string; created_at: string }): void {
    if (request.idempotency_key === undefined) return;
    const remembered = { request: rememberedRequest(request, key.environment), response: answer };
    this.#answers.set(`${key.workspaceId} ${request.idempotency_key}`, remembered);
    this.replays.push({
      ...remembered,
      workspace_id: key.workspaceId,
      key: request.idempotency_key,
      message_id: answer.id,
      created_at: answer.created_at,
    });
  }

  /** The project's id; a slug that is new gets one, and a project unless this is a dry run. */
  #projectId(workspaceId: string, slug: string, dryRun: boolean): string {
    const known = this.#projectIds.get(`${workspaceId} ${slug}`);
    if (known !== undefined) return known;
    const id = newId();
    if (dryRun) return id;
    this.#projectIds.set(`${workspaceId} ${slug}`, id);
    this.projects.push({ workspace_id: workspaceId, id, slug, name: slug });
    return id;
  }
}

/** What the guard needs to know of a message, but for its cost. */
function attemptOf({ project, source, message }: IngestRequest): Attempt {
  return {
    permission: permissionOf[message.type],
    source,
    projects: message.type === "allocation" ? [project, message.from_project] : [project],
    ...(message.type === "usage" && { features: [message.feature] }),
    ...(message.type === "batch" && { features: message.items.map((item) => item.feature) }),
  };
}

function isRecurring(message: CostMessage): message is Extract<CostMessage, { type: "subscription" }> {
  return message.type === "subscription" && message.recurring;
}

/** A stored answer as the contract has it: the amount is kept as text and sent as a number. */
function readAnswer(stored: unknown): IngestResult {
  const answer = stored as Omit<IngestResult, "amount_usd"> & { amount_usd: string };
  return { ...answer, amount_usd: new ExactNumber(answer.amount_usd) };
}
