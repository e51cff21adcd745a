import { newId } from "@/lib/db/new-id";
import { compare, subtract, zero } from "@/lib/decimal";
import { ServiceError } from "@/lib/errors";
import type { LoadedKey } from "@/lib/keys/admission-queries";
import { decideAttempt } from "@/lib/keys/decide";
import type { Settled } from "@/lib/ledger/telemetry/span-tree";
import type { IngestCall, Submission } from "./call";
import type { Draft } from "./draft";
import { costOf, earlierAnswer } from "./earlier-answer";
import type { GroupWork, MessageContext } from "./group-work";
import type { LedgerRow } from "./ledger";
import { hasOtherId, isAlike, type ReportedCall, type ReportedCalls } from "./reported-calls";
import { isSameContent, mostDetailed, withFound } from "./reported-postings";
import { spansOf } from "./wanted-reports";

/** Corrects the calls of a group by the spans of earlier exports, and earlier calls by the spans of the group. No I/O. */
export class SpanSettling {
  constructor(
    private readonly work: GroupWork,
    private readonly reports: ReportedCalls,
  ) {}

  /**
   * A request without the keys of spans around and inside it that reported other calls. A span around it did if the call that it
   * reported was replaced by calls inside it, or if that call has another model or other counts. A span around or inside it did if its
   * call has another id of the provider: of calls with equal counts at the same moment, one span can be joined with the wrong call.
   */
  apart(loaded: LoadedKey, request: Submission, draft: Draft): Submission {
    const { callKeys } = request;
    if (!callKeys || callKeys.outer.length + callKeys.inner.length === 0) return request;
    const isSame = (call: ReportedCall) => !call.isReplaced && isAlike(call, callKeys.reports ?? []);
    const tree = this.reports.treeOf(loaded.key.id);
    const isTakenOver = spansOf(request).some((span) => tree.isTakenOver(span, isSame));
    const own = isTakenOver ? { ...request, callKeys: { ...callKeys, outer: [] } } : request;
    return this.#withoutOthers(loaded, own, draft);
  }

  /** A call without the keys of spans around and inside it that were recorded as another call. */
  #withoutOthers(loaded: LoadedKey, request: Submission, draft: Draft): Submission {
    const { callKeys } = request;
    const { known = "", response } = earlierAnswer(loaded, request, draft) ?? {};
    if (!callKeys || ![...callKeys.outer, ...callKeys.inner].includes(known)) return request;
    const { id } = response as { id: string };
    const call = this.reports.recordedAs(loaded.key, callKeys, id, false);
    if (!call || !hasOtherId(call, callKeys.reports ?? [])) return request;
    const others = (names: readonly string[]) => names.filter((name) => name !== known);
    const left = { ...callKeys, outer: others(callKeys.outer), inner: others(callKeys.inner) };
    return this.#withoutOthers(loaded, { ...request, callKeys: left }, draft);
  }

  /**
   * Stores the spans of an export, and corrects earlier calls as if all spans had arrived in one export: a call that turns out to
   * enclose others is voided, and calls take over the names of the spans around them, as far as the key may record these.
   */
  settle(
    loaded: LoadedKey,
    { body, spans = [] }: IngestCall,
    arrival: number,
    context: MessageContext,
  ): void {
    const { key } = loaded;
    if (body instanceof ServiceError || !key.permissions.includes("log_usage")) return;
    this.reports.addSpans(key, spans);
    for (const request of body) {
      if (request instanceof ServiceError || !request.callKeys) continue;
      this.reports.addSpans(key, spansOf(request));
    }
    for (const { call, isAround, around, names } of this.reports.treeOf(key.id).settle(arrival)) {
      if (call.isVoided) continue;
      if (isAround) {
        this.#takeBack(loaded, call, context);
        continue;
      }
      this.#complete(loaded, call, { around, names }, context);
    }
  }

  /**
   * Corrects a call by the spans around it that came in other exports: it takes over their names, and the token kinds of a span that
   * reported the same counts in more kinds. Names that the key may not record are ignored; if its limit or a budget refuses the
   * additional cost, the call stays unchanged.
   */
  #complete(
    loaded: LoadedKey,
    call: ReportedCall,
    { around, names }: Pick<Settled<ReportedCall>, "around" | "names">,
    context: MessageContext,
  ): void {
    const { key } = loaded;
    const { draft } = context;
    const { user, feature, project } = names;
    const denied = decideAttempt(key, {
      permissions: ["log_usage"],
      ...(project !== undefined && { projects: [project] }),
      ...(feature !== undefined && { features: [feature] }),
      ...(user !== undefined && { users: [user] }),
    });
    const divided = around.reduce<readonly LedgerRow[]>((rows, { reports, postings }) => {
      const reported = { reports, postings, relation: "around" as const };
      return (
        (isAlike(call, reports) &&
          mostDetailed({ ...call, postings: rows as ReportedCall["postings"] }, reported)) ||
        rows
      );
    }, call.postings);
    const known = project === undefined ? undefined : (draft.projectId(key.workspaceId, project) ?? "");
    const rows = denied ? divided : withFound(divided, names, known);
    if (isSameContent(rows, call.postings)) return;
    const more = subtract(costOf(rows), costOf(call.postings));
    const planned = rows.map((posting) => ({ posting, projectId: posting.project_id }));
    if (compare(more, zero) > 0 && this.work.decideCorrection(loaded, planned, more, context)) return;
    if (key.monthlyLimit !== null) draft.addSpent(loaded, more);
    const id = newId();
    const corrected = rows.map((row) => ({
      ...row,
      id,
      created_at: this.work.createdAt,
      project_id: row.project_id || draft.projectIn(key.workspaceId, project ?? ""),
    })) as [LedgerRow, ...LedgerRow[]];
    this.reports.correct(call, corrected, "Completed by spans around it.");
  }

  /** Voids the call of a span that encloses recorded calls. */
  #takeBack(loaded: LoadedKey, call: ReportedCall, { draft }: MessageContext): void {
    if (loaded.key.monthlyLimit !== null) draft.addSpent(loaded, subtract(zero, costOf(call.postings)));
    this.reports.replace(call);
  }
}
