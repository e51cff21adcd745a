import { newId } from "@/lib/db/new-id";
import { compare, subtract, zero } from "@/lib/decimal";
import { ServiceError } from "@/lib/errors";
import type { LoadedKey } from "@/lib/keys/admission-queries";
import { decideAttempt } from "@/lib/keys/decide";
import type { Settled } from "@/lib/ledger/telemetry/span-tree";
import type { IngestCall, Submission } from "./call";
import type { Draft } from "./draft";
import type { GroupWork, Place } from "./group-work";
import type { LedgerRow } from "./ledger";
import { hasOtherId, isAlike, type TellingBook, type ToldCall } from "./telling-book";
import { costOf, earlierAnswer } from "./told-again";
import { bestOf, isSameContent, withFound } from "./told-postings";
import { spansOf } from "./wanted-tellings";

/** Corrects the calls of a group by the spans of earlier exports, and earlier calls by the spans of the group. No I/O. */
export class SpanSettling {
  constructor(
    private readonly work: GroupWork,
    private readonly tellings: TellingBook,
  ) {}

  /**
   * A call inside a span that told another call is one of its own: where what that span told has given way to other calls
   * inside it, or differs from this one and so gives way now. Of calls with equal counts at the same moment, a span around or
   * inside this one may have been taken for a telling of another call, which has another id of the provider's.
   */
  apart(loaded: LoadedKey, request: Submission, draft: Draft): Submission {
    const { telling } = request;
    if (!telling || telling.outer.length + telling.inner.length === 0) return request;
    const isSame = (call: ToldCall) => !call.isReplaced && isAlike(call, telling.tellings ?? []);
    const tree = this.tellings.treeOf(loaded.key.id);
    const isTakenOver = spansOf(request).some((span) => tree.isTakenOver(span, isSame));
    const own = isTakenOver ? { ...request, telling: { ...telling, outer: [] } } : request;
    return this.#withoutOthers(loaded, own, draft);
  }

  /** A call without the keys of spans around and inside it that were recorded as another call. */
  #withoutOthers(loaded: LoadedKey, request: Submission, draft: Draft): Submission {
    const { telling } = request;
    const { known = "", response } = earlierAnswer(loaded, request, draft) ?? {};
    if (!telling || ![...telling.outer, ...telling.inner].includes(known)) return request;
    const { id } = response as { id: string };
    const call = this.tellings.recordedAs(loaded.key, telling, id, false);
    if (!call || !hasOtherId(call, telling.tellings ?? [])) return request;
    const others = (names: readonly string[]) => names.filter((name) => name !== known);
    const left = { ...telling, outer: others(telling.outer), inner: others(telling.inner) };
    return this.#withoutOthers(loaded, { ...request, telling: left }, draft);
  }

  /**
   * Stores the spans of an export, and corrects earlier calls as if all spans had arrived in one export: a call that turns out to
   * enclose others is voided, and calls take over the names of the spans around them, as far as the key may record these.
   */
  settle(loaded: LoadedKey, { body, spans = [] }: IngestCall, arrival: number, place: Place): void {
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
   * Corrects a call by the spans around it that came in other exports: it takes over their names, and the token kinds of a span that
   * reported the same counts in more kinds. Names that the key may not record are ignored; if its limit or a budget refuses the
   * additional cost, the call stays unchanged.
   */
  #complete(
    loaded: LoadedKey,
    call: ToldCall,
    { around, names }: Pick<Settled<ToldCall>, "around" | "names">,
    place: Place,
  ): void {
    const { key } = loaded;
    const { draft } = place;
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
    const planned = rows.map((posting) => ({ posting, projectId: posting.project_id }));
    if (compare(more, zero) > 0 && this.work.decideMore(loaded, planned, more, place)) return;
    if (key.monthlyLimit !== null) draft.addSpent(loaded, more);
    const id = newId();
    const corrected = rows.map((row) => ({
      ...row,
      id,
      created_at: this.work.createdAt,
      project_id: row.project_id || draft.projectIn(key.workspaceId, project ?? ""),
    })) as [LedgerRow, ...LedgerRow[]];
    this.tellings.correct(call, corrected, "Completed by spans around it.");
  }

  /** Voids the call of a span that encloses recorded calls. */
  #takeBack(loaded: LoadedKey, call: ToldCall, { draft }: Place): void {
    if (loaded.key.monthlyLimit !== null) draft.addSpent(loaded, subtract(zero, costOf(call.postings)));
    this.tellings.replace(call);
  }
}
