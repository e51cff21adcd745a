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

/** Answers messages that were recorded before, and corrects these where another telling of the same call says more. No I/O. */
export class Retelling {
  constructor(
    private readonly work: GroupWork,
    private readonly tellings: TellingBook,
  ) {}

  /** Answers what was recorded before, and corrects that where another telling of the same call says more of it. */
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
    // A call is compared by its inner spans, as where all come in one export.
    if (isCorrected || relation !== "around") this.tellings.add(key, call, telling.tellings ?? [], id);
    return { ...answer, again: { as: "call", by } };
  }

  /** Answers another telling of a call that is recorded, and corrects what is recorded where this one says more of it. */
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
    // Creates a new project only now, when it is certain that this report is recorded.
    if (owner.project_id === "") draft.projectIn(key.workspaceId, request.project);
    const projectId = draft.projectId(key.workspaceId, request.project) ?? "";
    return best.map((row) => ({
      ...row,
      id: owner.id,
      created_at: this.work.createdAt,
      project_id: row.project_id === "" ? projectId : row.project_id,
    })) as [LedgerRow, ...LedgerRow[]];
  }

  /** Remembers the keys that are not known yet. */
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
   * Remembers what another telling of a recorded message adds: what includes it was told, or what it includes. Its own keys
   * are left out where only a part of it was recorded, so that the other parts still count.
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
