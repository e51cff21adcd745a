import { type CallReport, distanceOf } from "@/lib/ledger/telemetry/same-call";
import { SpanTree, type TreeSpan } from "@/lib/ledger/telemetry/span-tree";
import type { CallKeys } from "./call";
import type { LedgerRow } from "./ledger";
import { hasPlace, type LoadedPosting, type ReadMessages, type WantedMessage } from "./wanted-reports";

/**
 * A row of `private.call_tellings`. `recorded_as`: the id of the message under which its keys are stored. `message_id`: the id of the
 * message that may have replaced it since; null if calls inside it took its place. Both are null for a span that reports no call.
 */
export type CallReportRow = (CallReport | TreeSpan) & {
  workspace_id: string;
  api_key_id: string;
  message_id: string | null;
  recorded_as: string | null;
};

/** A row of `private.counted_sums`. */
export type SumRow = { workspace_id: string; environment: "live" | "test"; mark: string; message_id: string };

/** A correction of a recorded message. `postings`: its replacement; null to void it only. See `private.store_tellings`. */
export type CallCorrection = {
  workspace_id: string;
  message_id: string;
  reason: string;
  postings: LedgerRow[] | null;
  api_key_id?: string;
  likenesses?: number[];
  ends?: number[];
  mark?: string;
};

/** The result of `private.load_tellings`. `projects`: those that spans of earlier exports name. */
type Loaded = {
  calls: CallReportRow[];
  messages: LoadedPosting[];
  sums: SumRow[];
  projects: { workspace_id: string; slug: string; id: string }[];
};

/** A recorded call that spans reported. `postings`: those in the ledger now. `isVoided`: by a user, or because of a call inside it. */
export type ReportedCall = {
  messageId: string;
  reports: CallReport[];
  postings: [LedgerRow, ...LedgerRow[]];
  isVoided: boolean;
  /** Calls inside it have taken its place. */
  isReplaced?: boolean;
};

/** The calls that this group and exports of the last day reported, and the sums that single calls replace. No I/O. */
export class ReportedCalls {
  /** With `sums` and `corrections`: what the group is going to store. */
  readonly rows: CallReportRow[] = [];
  readonly sums: SumRow[] = [];
  readonly corrections: CallCorrection[] = [];
  /** By key and likeness. `scopes`: of all their reports. */
  readonly #alike = new Map<string, { calls: ReportedCall[]; scopes: Set<number> }>();
  readonly #sums = new Map<string, Set<string>>();
  readonly #takenBack = new Set<string>();
  readonly #corrections = new Map<ReportedCall, CallCorrection>();
  /** By key and the id of the message that a report was recorded as. */
  readonly #recorded = new Map<string, ReportedCall>();
  /** Recorded calls that were read by the ids of their messages; undefined if the message does not exist. */
  readonly #read = new Map<string, ReportedCall | undefined>();
  readonly #unread = new Map<string, WantedMessage>();
  readonly #trees = new Map<string, SpanTree<ReportedCall>>();
  /** The number of the export that is being decided; 0 for loaded spans. */
  #arrival = 0;
  /** The projects that spans of earlier exports name. */
  readonly projects: Loaded["projects"];

  /** @param answer of `private.load_tellings` @param read the messages that an earlier attempt found missing (`unreadMessages`) */
  constructor(answer: unknown, read: ReadMessages = { wanted: [], postings: [] }) {
    const { calls = [], messages = [], sums = [], projects = [] } = (answer ?? {}) as Partial<Loaded>;
    this.projects = projects;
    const postings = byMessage(messages);
    const known = new Map<string, ReportedCall>();
    for (const row of calls) {
      const { api_key_id: keyId, message_id: messageId, recorded_as: as, workspace_id: _, ...report } = row;
      const [first, ...others] = messageId === null ? [] : (postings.get(messageId) ?? []);
      // The span reports no call, or the month of its call was removed.
      if (!first || messageId === null) {
        if (hasPlace(report)) this.treeOf(keyId).add(report, undefined, 0, as !== null);
        continue;
      }
      const call = known.get(messageId) ?? storedCall([first, ...others]);
      known.set(messageId, call);
      this.#file(keyId, call, [report as CallReport], as ?? messageId);
    }
    for (const row of sums) this.#fileSum(row);
    const found = byMessage(read.postings);
    for (const { id } of read.wanted) {
      const [first, ...others] = found.get(id) ?? [];
      this.#read.set(id, first && (known.get(id) ?? storedCall([first, ...others])));
    }
  }

  /** The recorded call that these reports report although they share no id with it; of several, the nearest in time. */
  find(keyId: string, { reports = [] }: CallKeys): ReportedCall | undefined {
    const [first] = reports;
    const alike = first && this.#alike.get(`${keyId} ${first.likeness}`);
    if (!alike || (alike.scopes.size === 1 && reports.every(({ scope }) => alike.scopes.has(scope))))
      return undefined;
    let nearest: { call: ReportedCall; apart: number } | undefined;
    for (const call of alike.calls) {
      const apart = distanceOf(reports, call.reports);
      if (apart !== undefined && (!nearest || apart < nearest.apart)) nearest = { call, apart };
    }
    return nearest?.call;
  }

  /**
   * The call that the key recorded as a message, if these reports have the same model and counts.
   * @param isCertain the reports share an id of the provider with the call, so that their counts may differ
   */
  recordedAs(
    key: { id: string; workspaceId: string },
    { reports = [] }: CallKeys,
    id: string,
    isCertain: boolean,
  ): ReportedCall | undefined {
    const known = this.#recorded.get(`${key.id} ${id}`);
    if (known || !isCertain) return known && (isCertain || isAlike(known, reports)) ? known : undefined;
    const read = this.#read.get(id);
    const [first] = reports;
    if (first && !this.#read.has(id))
      this.#unread.set(id, { workspaceId: key.workspaceId, id, atUs: first.ended_us });
    return read?.postings[0].api_key_id === key.id ? read : undefined;
  }

  /** The messages that must be read before the group can be decided. Known after an attempt to decide it. */
  unreadMessages(): WantedMessage[] {
    return [...this.#unread.values()];
  }

  /** Adds reports to a call of the key. @param as the id of the message that the call was first recorded as */
  add(
    key: { id: string; workspaceId: string },
    call: ReportedCall,
    reports: readonly CallReport[],
    as: string,
  ): void {
    const { id: keyId, workspaceId } = key;
    this.#file(keyId, call, reports, as);
    const shared = { workspace_id: workspaceId, api_key_id: keyId, recorded_as: as };
    for (const report of reports) this.rows.push({ ...shared, message_id: call.messageId, ...report });
  }

  #file(keyId: string, call: ReportedCall, reports: readonly CallReport[], as: string): void {
    if (reports.length > 0) this.#recorded.set(`${keyId} ${as}`, call);
    for (const report of reports) {
      if (hasPlace(report)) this.treeOf(keyId).add(report, call, this.#arrival);
      const name = `${keyId} ${report.likeness}`;
      const alike = this.#alike.get(name) ?? { calls: [], scopes: new Set() };
      this.#alike.set(name, alike);
      if (call.reports.length === 0) alike.calls.push(call);
      call.reports.push(report);
      alike.scopes.add(report.scope);
    }
  }

  /** The spans that were reported with a key. */
  treeOf(keyId: string): SpanTree<ReportedCall> {
    const known = this.#trees.get(keyId);
    if (known) return known;
    const made = new SpanTree<ReportedCall>();
    this.#trees.set(keyId, made);
    return made;
  }

  /** Starts the next export of the group. @returns its number */
  nextExport(): number {
    this.#arrival += 1;
    return this.#arrival;
  }

  /** Adds spans that report no call. Ignores known ones. */
  addSpans({ id: keyId, workspaceId }: { id: string; workspaceId: string }, spans: Iterable<TreeSpan>): void {
    const tree = this.treeOf(keyId);
    const none = { message_id: null, recorded_as: null };
    for (const each of spans) {
      if (tree.has(each)) continue;
      tree.add(each, undefined, this.#arrival);
      const { trace, span, parent, names } = each;
      this.rows.push({ workspace_id: workspaceId, api_key_id: keyId, ...none, trace, span, parent, names });
    }
  }

  /** Replaces the postings of a recorded call, as a correction. From then on, the call has the message id of the new postings. */
  correct(call: ReportedCall, postings: [LedgerRow, ...LedgerRow[]], reason: string): void {
    const [{ workspace_id, api_key_id }] = call.postings;
    const own = this.#corrections.get(call);
    if (own) {
      // The earlier correction by this group is not stored yet: change it.
      const kept = postings.map((row) => ({ ...row, id: call.messageId })) as typeof postings;
      own.postings = kept;
      call.postings = kept;
    } else {
      const made = {
        workspace_id,
        message_id: call.messageId,
        reason,
        postings,
        api_key_id: String(api_key_id),
        likenesses: call.reports.map(({ likeness }) => likeness),
        ends: call.reports.map(({ ended_us }) => ended_us),
      };
      this.corrections.push(made);
      this.#corrections.set(call, made);
      call.messageId = postings[0].id;
      call.postings = postings;
    }
  }

  /** Voids a call, because calls inside it are recorded. */
  replace(call: ReportedCall): void {
    this.correct(call, call.postings, "A report of calls that are reported by spans inside it.");
    const made = this.#corrections.get(call);
    if (made) made.postings = null;
    call.isVoided = true;
    call.isReplaced = true;
  }

  /** Notes that a message counts the sum of the calls within these marks. */
  addSums(owner: Omit<SumRow, "mark">, marks: readonly string[]): void {
    for (const mark of marks) {
      const row = { ...owner, mark };
      this.sums.push(row);
      this.#fileSum(row);
    }
  }

  #fileSum({ environment, mark, message_id: id }: SumRow): void {
    const name = `${environment} ${mark}`;
    const known = this.#sums.get(name);
    if (known) known.add(id);
    else this.#sums.set(name, new Set([id]));
  }

  /** Voids the sums of calls within these marks, because the calls are reported one by one. */
  takeBack(owner: Pick<SumRow, "workspace_id" | "environment">, marks: readonly string[]): void {
    for (const mark of marks) {
      for (const id of this.#sums.get(`${owner.environment} ${mark}`) ?? []) {
        if (this.#takenBack.has(id)) continue;
        this.#takenBack.add(id);
        this.corrections.push({
          workspace_id: owner.workspace_id,
          message_id: id,
          reason: "A sum of calls that are reported one by one.",
          postings: null,
          mark,
        });
      }
    }
  }
}

function byMessage(postings: readonly LoadedPosting[]): Map<string, LoadedPosting[]> {
  const messages = new Map<string, LoadedPosting[]>();
  for (const posting of postings) {
    const known = messages.get(posting.id);
    if (known) known.push(posting);
    else messages.set(posting.id, [posting]);
  }
  return messages;
}

const storedCall = (postings: [LoadedPosting, ...LoadedPosting[]]): ReportedCall => ({
  messageId: postings[0].id,
  reports: [],
  postings,
  isVoided: postings[0].voided_by !== null,
});

/** Whether one of the reports has the same model and counts as one of the call's. */
export function isAlike(call: Pick<ReportedCall, "reports">, reports: readonly CallReport[]): boolean {
  return call.reports.some((known) => reports.some(({ likeness }) => likeness === known.likeness));
}

/**
 * Whether a call was reported in another trace with an id of the provider of the same kind as these reports have. As theirs is not
 * stored, it is another id, and so another call.
 */
export function hasOtherId(call: Pick<ReportedCall, "reports">, reports: readonly CallReport[]): boolean {
  return call.reports.some(({ ids, trace }) =>
    reports.some((reported) => reported.trace !== trace && (reported.ids & ids) !== 0),
  );
}
