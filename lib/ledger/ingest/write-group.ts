import type { PoolClient } from "pg";
import { toInstant } from "@/lib/contract/values/instant";
import { type Sql, sql } from "@/lib/db/sql";
import { inTwoRoundTrips, isContention } from "@/lib/db/transaction";
import { ServiceError } from "@/lib/errors";
import {
  type Admission,
  type AdmissionRow,
  loadAdmissionStatement,
  parseAdmission,
  recordAdmissionsStatement,
} from "@/lib/keys/admission-queries";
import type { BudgetPeriodRow } from "@/lib/keys/blocking-budgets";
import { recordKeyUse } from "@/lib/keys/record-key-use";
import type { PriceOverride } from "@/lib/ledger/pricing/price-message";
import { workspacePrices } from "@/lib/ledger/pricing/workspace-prices";
import { followPublished } from "@/lib/ledger/published/follow";
import type { TreeSpan } from "@/lib/ledger/telemetry/span-tree";
import { reportFailure } from "@/lib/log";
import { metrics } from "@/lib/metrics";
import { traced } from "@/lib/tracing";
import { type Around, type IngestCall, type IngestVerdict, isHourMark, type Submission } from "./call";
import { Group } from "./group";
import { keysOf } from "./idempotency";
import { loadBudgetPeriods, loadProjectSpend, loadReportedMessages } from "./ingest-queries";
import { requireMonths, withMonths } from "./months";
import { storeMessagesStatement } from "./store-messages";
import { type ReadMessages, spansOf, wantedOf, wantedSpans } from "./wanted-reports";

const maxAttempts = 8;

/**
 * Decides and records a group of calls in one transaction, in order. Returns after the commit.
 * A failing call does not fail the others: if the database refuses the group, each call is written by itself.
 */
export async function writeGroup(calls: IngestCall[]): Promise<IngestVerdict[]> {
  await followPublished();
  for (let attempt = 1; ; attempt += 1) {
    try {
      const lookups = calls.map(({ lookup }) => lookup);
      return await traced("record a group", { "outlay.calls": calls.length }, lookups, (span) =>
        withMonths(() => tryGroup(calls, span)),
      );
    } catch (error) {
      if (isContention(error) && attempt < maxAttempts) {
        metrics.groupRetries.inc();
        continue;
      }
      if (error instanceof ServiceError || calls.length === 1) throw error;
      reportFailure(error, "A group of calls could not be written; writing them one by one.");
      return oneByOne(calls);
    }
  }
}

async function oneByOne(calls: IngestCall[]): Promise<IngestVerdict[]> {
  const verdicts: IngestVerdict[] = [];
  for (const call of calls) {
    const [verdict] = await writeGroup([call]).catch((error): IngestVerdict[] => {
      if (error instanceof ServiceError) return [{ outcome: error, rate: null }];
      reportFailure(error, "A call could not be written.");
      return [
        { outcome: new ServiceError("internal_error", "The message could not be recorded."), rate: null },
      ];
    });
    if (verdict) verdicts.push(verdict);
  }
  return verdicts;
}

/** The messages of a group, each with the lookup of its key. Leaves out messages that were refused already. */
function messagesOf(calls: IngestCall[]) {
  return calls.flatMap(({ lookup, body }) =>
    body instanceof ServiceError
      ? []
      : body.flatMap((request) =>
          request instanceof ServiceError ? [] : [{ lookup: lookup.value, request }],
        ),
  );
}

async function tryGroup(calls: IngestCall[], span: readonly object[]): Promise<IngestVerdict[]> {
  const messages = messagesOf(calls);
  const seen = new Set<Around>();
  const load = loadAdmissionStatement({
    lookups: calls.map(({ lookup }) => lookup),
    projects: [
      ...messages.flatMap(({ request: { project, message } }) =>
        message.type === "allocation" ? [project, message.from_project] : [project],
      ),
      ...calls.flatMap(projectsOfSpans),
    ],
    idempotency: messages.flatMap(({ request }) => keysOf(request, seen)),
    reports: reportsIn(calls, seen),
    reservations: reservationsOf(messages),
  });
  const { verdicts, admission, group } = await inTwoRoundTrips<AdmissionRow, Decided>(
    load,
    async (answer, client) => {
      const decided = await decide(calls, answer, client);
      const { group, admission } = decided;
      const corrected = group.reports.corrections.flatMap(({ postings }) => postings ?? []);
      const booked = [...group.draft.messages, ...corrected].map((row) => row.occurred_at);
      // The void of a message in a closed month is booked now.
      requireMonths(corrected.length > 0 ? [...booked, toInstant(admission.now)] : booked);
      return { close: statementsOf(group, admission.now), result: decided };
    },
    span,
  );
  recordKeyUse(admission.keys.values(), admission.now);
  metrics.groupCalls.observe(calls.length);
  metrics.messages.inc(group.draft.messages.filter(({ part = 0 }) => part === 0).length);
  return verdicts;
}

/** The reservations that messages name; undefined if none does. */
function reservationsOf(messages: ReturnType<typeof messagesOf>): string[] | undefined {
  const ids = messages.flatMap(({ request }) => request.reservation_id ?? []);
  return ids.length > 0 ? [...new Set(ids)] : undefined;
}

/** The projects that the spans of an export name for the calls inside them. */
function projectsOfSpans({ body, spans = [] }: IngestCall): string[] {
  const requests = body instanceof ServiceError ? [] : body;
  const ofCalls = requests.flatMap((request) => (request instanceof ServiceError ? [] : spansOf(request)));
  return [...spans, ...ofCalls].flatMap(({ names }) => names?.chosenProject ?? names?.project ?? []);
}

/** What must be loaded to decide the calls that emitters report in a group. @param seen what their messages are inside of */
function reportsIn(calls: IngestCall[], seen: Set<Around>) {
  const reported = new Map<string, { submissions: Submission[]; spans: TreeSpan[] }>();
  for (const { lookup, body, spans = [] } of calls) {
    if (body instanceof ServiceError) continue;
    const submissions = body.filter((one) => !(one instanceof ServiceError) && one.callKeys) as Submission[];
    if (submissions.length + spans.length === 0) continue;
    const known = reported.get(lookup.value) ?? { submissions: [], spans: [] };
    reported.set(lookup.value, known);
    // Not `push(...)`: there may be too many for the arguments of one call.
    for (const submission of submissions) known.submissions.push(submission);
    for (const span of [...spans, ...submissions.flatMap(spansOf)]) known.spans.push(span);
  }
  if (reported.size === 0) return undefined;
  return {
    tellers: [...reported.keys()],
    tellings: [...reported.values()].flatMap(({ submissions, spans }, teller): object[] => [
      ...wantedOf(submissions, teller),
      ...wantedSpans(spans, teller),
    ]),
    marks: Array.from(seen, ({ mark }) => mark).filter(isHourMark),
  };
}

type Decided = { verdicts: IngestVerdict[]; admission: Admission; group: Group };

/** The rows that an earlier attempt to decide a group needed in addition to those loaded with its keys. */
type Further = { periods: BudgetPeriodRow[]; read: ReadMessages };

/**
 * Decides a group. If a message needs past or future periods of blocking budgets, or a report needs the message of its call, which are
 * not loaded with the keys, they are loaded and the group is decided again from the beginning.
 */
async function decide(
  calls: IngestCall[],
  answer: AdmissionRow,
  client: PoolClient,
  { periods, read }: Further = { periods: [], read: { wanted: [], postings: [] } },
): Promise<Decided> {
  const admission = parseAdmission(answer, periods);
  const group = new Group(admission, await loadPrices(client, admission), read);
  group.work.knowSpend(
    await loadProjectSpend(client, group.work.spendToKnow(messagesOf(calls), group.draft)),
  );
  const verdicts: IngestVerdict[] = [];
  for (const call of calls) verdicts.push(await group.admit(call));
  const unknown = group.work.unknownPeriods();
  const unread = group.reports.unreadMessages();
  if (unknown.length + unread.length === 0) return { verdicts, admission, group };
  const found = unknown.length > 0 ? await loadBudgetPeriods(client, unknown) : [];
  if (found.length === 0 && unknown.length > 0)
    throw new Error("A blocking budget counts a time that is in none of its periods.");
  const messages = unread.length > 0 ? await loadReportedMessages(client, unread) : [];
  return decide(calls, answer, client, {
    periods: [...periods, ...found],
    read: { wanted: [...read.wanted, ...unread], postings: [...read.postings, ...messages] },
  });
}

/** The statements that write a decided group. */
function statementsOf(group: Group, now: number): Sql[] {
  const admissions = group.admissions();
  const { projects, messages, replays, subscriptions, settled } = group.draft;
  const { rows: calls, sums, corrections } = group.reports;
  const { refused, taken } = group.refused.written();
  return [
    ...(admissions.length > 0 ? [recordAdmissionsStatement(admissions, now)] : []),
    ...(projects.length + messages.length + replays.length > 0
      ? [storeMessagesStatement({ projects, messages, replays })]
      : []),
    ...(calls.length + sums.length + corrections.length > 0
      ? [sql`select private.store_tellings(${JSON.stringify({ calls, sums, corrections })})`]
      : []),
    ...(settled.length > 0 ? [sql`select private.settle_reservations(${JSON.stringify(settled)})`] : []),
    ...(refused.length > 0 ? [sql`select private.record_refusals(${JSON.stringify(refused)})`] : []),
    ...(taken.length > 0 ? [sql`select private.take_back_refusals(${JSON.stringify(taken)})`] : []),
    ...(subscriptions.length > 0
      ? [sql`select private.start_subscriptions(${JSON.stringify(subscriptions)})`]
      : []),
  ];
}

/** The prices of each workspace of the group, by workspace id. */
export async function loadPrices(
  client: PoolClient,
  { keys }: Admission,
): Promise<Map<string, readonly PriceOverride[]>> {
  const prices = new Map<string, readonly PriceOverride[]>();
  for (const { key, pricesVersion } of keys.values()) {
    if (prices.has(key.workspaceId)) continue;
    prices.set(key.workspaceId, await workspacePrices(client, key.workspaceId, pricesVersion));
  }
  return prices;
}
