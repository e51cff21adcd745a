import { v7 as uuidv7 } from "uuid";
import { ExactNumber } from "@/lib/contract/exact-number";
import { toInstant } from "@/lib/contract/instant";
import type { IngestRequest, IngestResult } from "@/lib/contract/message";
import { asService, isContention } from "@/lib/db/transaction";
import { ServiceError } from "@/lib/errors";
import { invalidCredentials } from "@/lib/keys/credentials";
import { decideAttempt, decideCall, rateWindowMs } from "@/lib/keys/decide";
import { type Admission, type LoadedKey, loadAdmission, recordAdmissions } from "@/lib/keys/queries";
import { log } from "@/lib/log";
import { add } from "@/lib/pricing/decimal";
import { type IngestCall, type IngestVerdict, permissionOf, type Recorded } from "./call";
import { type Composed, composeMessage } from "./compose";
import { idempotencyConflict, rememberedRequest } from "./idempotency";
import type { LedgerRow } from "./ledger";
import { ensureMonths, type NewProject, type Replay, storeMessages } from "./queries";

const maxAttempts = 8;

/**
 * Decides and records a group of calls in one transaction, in order; the answers are true once it has committed.
 * Calls are admitted one after another against the state that the earlier ones leave, so that a limit holds inside a
 * group as it does between groups. A call that fails never fails its neighbours.
 */
export async function writeGroup(calls: IngestCall[]): Promise<IngestVerdict[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await tryGroup(calls);
    } catch (error) {
      if (isContention(error) && attempt < maxAttempts) continue;
      if (error instanceof ServiceError || calls.length === 1) throw error;
      log.error({ err: error }, "A group of messages could not be written; writing them one by one.");
      return oneByOne(calls);
    }
  }
}

async function oneByOne(calls: IngestCall[]): Promise<IngestVerdict[]> {
  const verdicts: IngestVerdict[] = [];
  for (const call of calls) {
    const [verdict] = await writeGroup([call]).catch((error): IngestVerdict[] => {
      if (error instanceof ServiceError) return [{ outcome: error, rate: null }];
      log.error({ err: error }, "A message could not be written.");
      return [
        { outcome: new ServiceError("internal_error", "The message could not be recorded."), rate: null },
      ];
    });
    if (verdict) verdicts.push(verdict);
  }
  return verdicts;
}

async function tryGroup(calls: IngestCall[]): Promise<IngestVerdict[]> {
  const bodies = calls.map(({ body }) => (body instanceof ServiceError ? undefined : body));
  const today = Date.now();
  await ensureMonths([
    ...bodies
      .flatMap((body) => body?.message.occurred_at ?? [])
      .map((instant) => new Date(instant).toISOString()),
    new Date(today).toISOString(),
    new Date(today + 86_400_000).toISOString(),
  ]);
  return asService(async (client) => {
    const admission = await loadAdmission(client, {
      lookups: calls.map(({ lookup }) => lookup),
      projects: calls.flatMap(({ lookup }, index) => {
        const slug = bodies[index]?.project;
        return slug === undefined ? [] : [{ lookup: lookup.value, slug }];
      }),
      idempotency: calls.flatMap(({ lookup }, index) => {
        const key = bodies[index]?.idempotency_key;
        return key === undefined ? [] : [{ lookup: lookup.value, key }];
      }),
    });
    const group = new Group(admission);
    const verdicts = calls.map((call) => group.admit(call));
    await recordAdmissions(client, group.admissions(), admission.now);
    if (group.messages.length > 0) await storeMessages(client, group);
    return verdicts;
  });
}

/** The state of a group while its calls are decided, and what it is going to write. */
class Group {
  readonly projects: NewProject[] = [];
  readonly messages: LedgerRow[] = [];
  readonly replays: Replay[] = [];
  readonly #projectIds: Map<string, string>;
  readonly #answers: Map<string, { request: unknown; response: unknown }>;
  readonly #admitted = new Map<LoadedKey, number>();

  constructor(private readonly admission: Admission) {
    this.#projectIds = new Map(admission.projects.map((row) => [`${row.workspace_id} ${row.slug}`, row.id]));
    this.#answers = new Map(admission.replays.map((row) => [`${row.workspace_id} ${row.key}`, row]));
  }

  /** How many calls each rate-limited key was admitted. */
  admissions(): { loaded: LoadedKey; admitted: number }[] {
    return [...this.#admitted].map(([loaded, admitted]) => ({ loaded, admitted }));
  }

  admit(call: IngestCall): IngestVerdict {
    const loaded = this.admission.keys.get(call.lookup.value);
    if (!loaded) return { outcome: invalidCredentials(), rate: null };
    const { now } = this.admission;
    const { refusal, rate } = decideCall(loaded.key, loaded.usage, call.address, now);
    if (refusal) return { outcome: refusal, rate };
    if (rate) this.#countCall(loaded);
    return {
      outcome:
        call.body instanceof ServiceError ? call.body : this.#admitMessage(loaded, call.body, call.dryRun),
      rate,
    };
  }

  #countCall(loaded: LoadedKey): void {
    const { window } = loaded.usage;
    window.used += 1;
    window.freesAt ??= this.admission.now + rateWindowMs;
    this.#admitted.set(loaded, (this.#admitted.get(loaded) ?? 0) + 1);
  }

  #admitMessage(loaded: LoadedKey, request: IngestRequest, dryRun: boolean): Recorded | ServiceError {
    const { key, usage } = loaded;
    const { message } = request;
    const earlier = this.#earlierAnswer(loaded, request);
    const conflict =
      earlier && idempotencyConflict(request.idempotency_key ?? "", earlier.request, earlier.meant);
    const composed = earlier ? undefined : composeMessage(message, this.admission.now);
    const refusal = decideAttempt(
      key,
      usage,
      {
        permission: permissionOf[message.type],
        source: request.source,
        projects: [request.project],
        ...(message.type === "usage" && { features: [message.feature] }),
        ...(conflict && { conflict }),
        ...(composed && { cost: composed.cost }),
      },
      this.admission.now,
    );
    if (refusal) return refusal;
    if (earlier) return { result: readAnswer(earlier.response), replayed: true };
    if (!composed) throw new Error("A message that is no replay has a cost.");
    if (!dryRun) usage.spent = add(usage.spent, composed.cost);
    return { result: this.#record(loaded, request, composed, dryRun), replayed: false };
  }

  #earlierAnswer({ key }: LoadedKey, request: IngestRequest) {
    if (request.idempotency_key === undefined) return undefined;
    const earlier = this.#answers.get(`${key.workspaceId} ${request.idempotency_key}`);
    return earlier && { ...earlier, meant: rememberedRequest(request, key.environment) };
  }

  #record({ key }: LoadedKey, request: IngestRequest, composed: Composed, dryRun: boolean): IngestResult {
    const [first] = composed.postings;
    const createdAt = toInstant(this.admission.now);
    const id = uuidv7();
    const projectId = this.#projectId(key.workspaceId, request.project, dryRun);
    const answer = {
      id,
      amount_usd: first.amount_usd,
      project_id: projectId,
      created_at: createdAt,
      cost_status: first.cost_status,
    };
    if (dryRun) return { ...readAnswer(answer), dry_run: true };
    for (const posting of composed.postings) {
      this.messages.push({
        ...posting,
        id,
        workspace_id: key.workspaceId,
        created_at: createdAt,
        project_id: projectId,
        api_key_id: key.id,
        source: request.source,
        environment: key.environment,
      });
    }
    if (request.idempotency_key !== undefined) {
      const remembered = { request: rememberedRequest(request, key.environment), response: answer };
      this.#answers.set(`${key.workspaceId} ${request.idempotency_key}`, remembered);
      this.replays.push({
        ...remembered,
        workspace_id: key.workspaceId,
        key: request.idempotency_key,
        message_id: id,
        created_at: createdAt,
      });
    }
    return readAnswer(answer);
  }

  /** The project's id; a slug that is new gets one, and a project unless this is a dry run. */
  #projectId(workspaceId: string, slug: string, dryRun: boolean): string {
    const known = this.#projectIds.get(`${workspaceId} ${slug}`);
    if (known !== undefined) return known;
    const id = uuidv7();
    if (dryRun) return id;
    this.#projectIds.set(`${workspaceId} ${slug}`, id);
    this.projects.push({ workspace_id: workspaceId, id, slug, name: slug });
    return id;
  }
}

/** A stored answer as the contract has it: the amount is kept as text and sent as a number. */
function readAnswer(stored: unknown): IngestResult {
  const answer = stored as Omit<IngestResult, "amount_usd"> & { amount_usd: string };
  return { ...answer, amount_usd: new ExactNumber(answer.amount_usd) };
}
