import { maxTags } from "@/lib/contract/ledger/limits";
import { parseDecimal, toText } from "@/lib/decimal";
import {
  type CallReport,
  isMoreDetailed,
  kindRank,
  type Relation,
  type ReportDetail,
} from "@/lib/ledger/telemetry/same-call";
import type { FoundNames } from "@/lib/ledger/telemetry/span-tree";
import type { LedgerRow } from "./ledger";
import type { ReportedCall } from "./reported-calls";

/** How detailed the reports of a call are, by its reports, or by its postings if no reports are known. */
function detailsOf({
  reports,
  postings,
}: Pick<ReportedCall, "reports" | "postings">): readonly ReportDetail[] {
  if (reports.length > 0) return reports;
  return [{ rank: postings.length * kindRank, emitter: postings[0].emitter ?? "" }];
}

/** The columns that one report of a call may have and another may lack. */
const names = ["feature", "end_user", "session"] as const;

/**
 * The postings of a call that is reported twice: those of the more detailed report, with the names that only the other one has.
 * @param other the postings of the other report, and its relation to the recorded one
 * @returns undefined if these are the recorded postings
 */
export function mostDetailed(
  { reports, postings }: Pick<ReportedCall, "reports" | "postings">,
  other: { reports: readonly CallReport[]; postings: readonly LedgerRow[]; relation: Relation },
): LedgerRow[] | undefined {
  const isBetter = isMoreDetailed(other.reports, detailsOf({ reports, postings }), other.relation);
  const [best, rest] = isBetter ? [other.postings, postings] : [postings, other.postings];
  const [source] = rest;
  // Of nested spans, the inner one decides the time, project, feature, person, session and tags. The outer one may add kinds of tokens,
  // and names that the inner one lacks.
  const isInnerLess = other.relation === (isBetter ? "around" : "inside");
  const joined = isInnerLess
    ? best.map((posting) => withNames({ ...posting, ...placeOf(source as LedgerRow) }, posting))
    : best.map((posting) => withNames(posting, source as LedgerRow));
  return isSameContent(joined, postings) ? undefined : joined;
}

/** The columns that say when, for whom and for what a call was made. */
const placeOf = ({ occurred_at, project_id, feature, end_user, session, tags }: LedgerRow) => ({
  occurred_at,
  project_id,
  feature,
  end_user,
  session,
  tags,
});

/** The postings of a call with the names of the spans around it, which replace its present ones. */
export function withFound(
  postings: readonly LedgerRow[],
  { feature, user, session, tags }: FoundNames,
  projectId: string | undefined,
): LedgerRow[] {
  return postings.map((posting) => {
    const found = Object.entries(tags).map(([name, value]) => `${name}:${value}`);
    const named = {
      ...posting,
      project_id: projectId ?? posting.project_id,
      feature: feature ?? posting.feature,
      end_user: user ?? posting.end_user,
      session: session ?? posting.session,
    };
    return found.length === 0 ? named : withNames({ ...named, tags: found }, posting);
  });
}

/** Whether two lists of postings differ at most in ids, times and emitters. */
export function isSameContent(one: readonly LedgerRow[], other: readonly LedgerRow[]): boolean {
  return contentOf(one) === contentOf(other);
}

function withNames(posting: LedgerRow, from: LedgerRow): LedgerRow {
  const named = { ...posting };
  for (const name of names) named[name] = posting[name] ?? from[name] ?? undefined;
  const own = posting.tags ?? [];
  const nameOf = (tag: string) => tag.slice(0, tag.indexOf(":"));
  const further = (from.tags ?? []).filter((tag) => !own.some((known) => nameOf(known) === nameOf(tag)));
  const tags = [...own, ...further].sort().slice(0, maxTags);
  named.tags = tags.length > 0 ? tags : undefined;
  return named;
}

/** The content by which postings are compared: everything but their ids, times and emitters. */
function contentOf(postings: readonly LedgerRow[]): string {
  return JSON.stringify(
    postings.map((one) => [
      ...[one.project_id, one.provider, one.model, one.unit_type, one.cost_status].map(
        (text) => text ?? null,
      ),
      ...[one.feature, one.end_user, one.session].map((text) => text ?? null),
      ...[one.quantity, one.amount_usd, one.list_price_usd].map((decimal) =>
        decimal === undefined || decimal === null ? null : toText(parseDecimal(decimal)),
      ),
      one.tags ?? null,
    ]),
  );
}
