import { compare, subtract, zero } from "@/lib/decimal";
import { ServiceError } from "@/lib/errors";
import type { LoadedKey } from "@/lib/keys/admission-queries";
import type { ApiKey } from "@/lib/keys/api-key";
import type { Relation } from "@/lib/ledger/telemetry/same-call";
import { type CallKeys, isProviderKey, type Recorded, type Submission } from "./call";
import type { Draft } from "./draft";
import type { GroupWork, Place } from "./group-work";
import { toIngestResult } from "./ingest-result";
import { type LedgerRow, rowsOf } from "./ledger";
import type { TellingBook, ToldCall } from "./telling-book";
import { againOf, answerOf, costOf, type earlierAnswer } from "./told-again";
import { bestOf } from "./told-postings";

/** Answers messages that were recorded before, and corrects the recorded call if another telling of it is more detailed. No I/O. */
export class Retelling {
  constructor(
    private readonly work: GroupWork,
    private readonly tellings: TellingBook,
  ) {}

  /** Answers a message that shares a key with a recorded one, and corrects that if this telling of the call is more detailed. */
  repeat(
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
    // Calls are compared by their inner spans, as if all spans had come in one export.
    if (isCorrected || relation !== "around") this.tellings.add(key, call, telling.tellings ?? [], id);
    return { ...answer, again: { as: "call", by } };
  }

  /** Answers another telling of a call that shares no key with it, and corrects the call if this telling is more detailed. */
  join(loaded: LoadedKey, request: Submission, call: ToldCall, place: Place): Recorded {
    const { draft } = place;
    const { key } = loaded;
    const { tellings = [], own, within } = request.telling as CallKeys;
    const by = call.tellings[0]?.emitter;
    const response = answerOf(call.postings);
    const marks = draft.marksOf(within);
    const id = call.messageId;
    this.remember(key, [...own, ...marks], { message_id: id, response }, draft);
    this.tellings.takeBack({ workspace_id: key.workspaceId, environment: key.environment }, marks);
    this.#correct(loaded, request, call, "beside", place);
    this.tellings.add(key, call, tellings, id);
    return { result: toIngestResult(response), replayed: true, again: { as: "call", by } };
  }

  /** Corrects the recorded call if the request is more detailed. @returns whether it did */
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
   * The postings that should replace those of a call that is reported again; undefined if they are the same, or if the key's limit or
   * a budget refuses the additional cost.
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
    const work = this.work.compose(loaded, request, draft);
    if (work instanceof ServiceError) return undefined;
    const owner = this.work.ownerOf(key, request, draft.projectId(key.workspaceId, request.project) ?? "");
    const told = {
      tellings: request.telling?.tellings ?? [],
      postings: rowsOf(owner, request.emitter, work.own.postings),
      relation,
    };
    const best = bestOf(call, told);
    if (!best) return undefined;
    const more = subtract(costOf(best), costOf(call.postings));
    if (compare(more, zero) > 0 && this.work.decideRoom(loaded, request, work, more, place)) return undefined;
    if (key.monthlyLimit !== null) draft.addSpent(loaded, more);
    // Creates a new project only when it is certain that the report is recorded.
    if (owner.project_id === "") draft.projectIn(key.workspaceId, request.project);
    const projectId = draft.projectId(key.workspaceId, request.project) ?? "";
    return best.map((row) => ({
      ...row,
      id: owner.id,
      created_at: this.work.createdAt,
      project_id: row.project_id === "" ? projectId : row.project_id,
    })) as [LedgerRow, ...LedgerRow[]];
  }

  /** Stores an answer under those of the keys that are not stored yet. */
  remember(
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
      created_at: this.work.createdAt,
      ...answer,
    });
  }

  /**
   * Stores the keys and marks that another telling of a recorded message adds. If only calls inside it were recorded, its own keys are
   * left out, so that its other parts still count.
   */
  #rememberTold(key: ApiKey, telling: CallKeys, response: unknown, draft: Draft): void {
    const isWhole = [...telling.own, ...telling.outer].some((name) => this.#isRemembered(key, name, draft));
    const marks = draft.marksOf(telling.within);
    const names = isWhole ? [...telling.own, ...marks] : marks;
    const stored = response as Record<string, unknown>;
    this.remember(key, names, { message_id: String(stored.id), response: stored }, draft);
    this.tellings.takeBack({ workspace_id: key.workspaceId, environment: key.environment }, marks);
  }

  #isRemembered({ workspaceId, environment }: ApiKey, name: string, draft: Draft): boolean {
    return draft.answerTo(workspaceId, environment, name) !== undefined;
  }
}
