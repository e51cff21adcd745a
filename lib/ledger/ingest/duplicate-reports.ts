import { compare, subtract, zero } from "@/lib/decimal";
import { ServiceError } from "@/lib/errors";
import type { LoadedKey } from "@/lib/keys/admission-queries";
import type { ApiKey } from "@/lib/keys/api-key";
import type { Relation } from "@/lib/ledger/telemetry/same-call";
import { type CallKeys, isProviderKey, type Recorded, type Submission } from "./call";
import type { Draft } from "./draft";
import { answerOf, costOf, duplicateOf, type earlierAnswer } from "./earlier-answer";
import type { GroupWork, MessageContext } from "./group-work";
import { toIngestResult } from "./ingest-result";
import { type LedgerRow, rowsOf } from "./ledger";
import type { ReportedCall, ReportedCalls } from "./reported-calls";
import { mostDetailed } from "./reported-postings";

/** Answers messages that were recorded before, and corrects the recorded call if the new report is more detailed. No I/O. */
export class DuplicateReports {
  constructor(
    private readonly work: GroupWork,
    private readonly reports: ReportedCalls,
  ) {}

  /** Answers a message that shares a key with a recorded one, and corrects that if this report of the call is more detailed. */
  repeat(
    loaded: LoadedKey,
    request: Submission,
    { response, known }: NonNullable<ReturnType<typeof earlierAnswer>>,
    context: MessageContext,
  ): Recorded {
    const { key } = loaded;
    const { callKeys } = request;
    const answer = { result: toIngestResult(response), replayed: true };
    if (!callKeys) return answer;
    const { duplicate, relation } =
      duplicateOf(callKeys, known, (name) => this.#isRemembered(key, name, context.draft)) ?? {};
    this.#rememberReport(key, callKeys, response, context.draft);
    const { id } = response as { id: string };
    const isCertain = relation === "beside" && known !== undefined && isProviderKey(known);
    const call = relation && this.reports.recordedAs(key, callKeys, id, isCertain);
    if (!call) return { ...answer, duplicate };
    const by = call.reports[0]?.emitter ?? call.postings[0].emitter ?? undefined;
    const isCorrected = this.#correct(loaded, request, call, relation, context);
    // Calls are compared by their inner spans, as if all spans had come in one export.
    if (isCorrected || relation !== "around") this.reports.add(key, call, callKeys.reports ?? [], id);
    return { ...answer, duplicate: { as: "call", by } };
  }

  /** Answers another report of a call that shares no key with it, and corrects the call if this report is more detailed. */
  join(loaded: LoadedKey, request: Submission, call: ReportedCall, context: MessageContext): Recorded {
    const { draft } = context;
    const { key } = loaded;
    const { reports = [], own, within } = request.callKeys as CallKeys;
    const by = call.reports[0]?.emitter;
    const response = answerOf(call.postings);
    const marks = draft.marksOf(within);
    const id = call.messageId;
    this.remember(key, [...own, ...marks], { message_id: id, response }, draft);
    this.reports.takeBack({ workspace_id: key.workspaceId, environment: key.environment }, marks);
    this.#correct(loaded, request, call, "beside", context);
    this.reports.add(key, call, reports, id);
    return { result: toIngestResult(response), replayed: true, duplicate: { as: "call", by } };
  }

  /** Corrects the recorded call if the request is more detailed. @returns whether it did */
  #correct(
    loaded: LoadedKey,
    request: Submission,
    call: ReportedCall,
    relation: Relation,
    context: MessageContext,
  ): boolean {
    const better = call.isVoided ? undefined : this.#better(loaded, request, call, relation, context);
    if (better)
      this.reports.correct(call, better, `Replaced by a more detailed report of ${request.emitter?.name}.`);
    return better !== undefined;
  }

  /**
   * The postings that should replace those of a call that is reported again; undefined if they are the same, or if the key's limit or
   * a budget refuses the additional cost.
   */
  #better(
    loaded: LoadedKey,
    request: Submission,
    call: ReportedCall,
    relation: Relation,
    context: MessageContext,
  ): [LedgerRow, ...LedgerRow[]] | undefined {
    const { key } = loaded;
    const { draft } = context;
    const work = this.work.compose(loaded, request, draft);
    if (work instanceof ServiceError) return undefined;
    const owner = this.work.ownerOf(key, request, draft.projectId(key.workspaceId, request.project) ?? "");
    const reported = {
      reports: request.callKeys?.reports ?? [],
      postings: rowsOf(owner, request.emitter, work.own.postings),
      relation,
    };
    const best = mostDetailed(call, reported);
    if (!best) return undefined;
    const more = subtract(costOf(best), costOf(call.postings));
    if (compare(more, zero) > 0 && this.work.decideLimits(loaded, request, work, more, context))
      return undefined;
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
   * Stores the keys and marks that another report of a recorded message adds. If only calls inside it were recorded, its own keys are
   * left out, so that its other parts still count.
   */
  #rememberReport(key: ApiKey, callKeys: CallKeys, response: unknown, draft: Draft): void {
    const isWhole = [...callKeys.own, ...callKeys.outer].some((name) => this.#isRemembered(key, name, draft));
    const marks = draft.marksOf(callKeys.within);
    const names = isWhole ? [...callKeys.own, ...marks] : marks;
    const stored = response as Record<string, unknown>;
    this.remember(key, names, { message_id: String(stored.id), response: stored }, draft);
    this.reports.takeBack({ workspace_id: key.workspaceId, environment: key.environment }, marks);
  }

  #isRemembered({ workspaceId, environment }: ApiKey, name: string, draft: Draft): boolean {
    return draft.answerTo(workspaceId, environment, name) !== undefined;
  }
}
