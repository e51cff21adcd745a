import { ServiceError } from "@/lib/errors";
import type { ApiKey } from "@/lib/keys/api-key";
import { decideAttempt } from "@/lib/keys/decide";
import { attemptOf } from "@/lib/ledger/ingest/attempt";
import { advanceTotals, isUsed, type Owner, settleTotals } from "@/lib/ledger/telemetry/running-totals";
import type { TreeSpan } from "@/lib/ledger/telemetry/span-tree";
import { Account, type AccountRow } from "./account";
import { seriesKey } from "./mapping/call-keys";
import type { Mapped } from "./mapping/map-export";
import { nameHours } from "./mapping/signal-claims";
import type { SourceRecord } from "./mapping/source-record";
import { featureOf, projectOf } from "./mapping/source-settings";
import { addOutcome, noteOutcomes, type Outcome } from "./note-outcomes";
import { type Exporter, recordCalls } from "./record-calls";
import { Refusals } from "./told";

/** What became of an export: how many of its records were refused and why, and remarks for who runs the emitter. */
export type ExportOutcome = { refused: number; remarks: string[] };

/** How many reasons and remarks an answer has at most. */
const maxRemarks = 20;

/**
 * Records the calls of models that an export tells, each as one message, decided like any other by the key's permissions
 * and conditions. What was recorded before is not recorded again.
 * @throws ServiceError where nobody can say what was recorded, or where the key may not be used any more; then the export
 *   can be sent again
 */
export async function recordExport(
  exporter: Exporter,
  { records, spans, remarks, refused: unreadable, leftOut }: Mapped,
): Promise<ExportOutcome> {
  const outcomes = await recordTold(exporter, records, spans);
  const account = [...leftOut, ...accountOf(records, outcomes)];
  noteOutcomes(exporter, records, outcomes, { unreadable, account });
  const refusals = new Refusals();
  for (const { error, count } of unreadable) refusals.add(error, count);
  for (const { verdict } of outcomes) if (verdict instanceof ServiceError) refusals.add(verdict);
  const refused = refusals.list();
  const reasons = refused.map(({ error, count }) => `${count} refused: ${error.code}: ${error.message}`);
  return {
    refused: refused.reduce((sum, { count }) => sum + count, 0),
    remarks: [...reasons, ...remarks].slice(0, maxRemarks),
  };
}

/** How many records are recorded at once. A larger export is several, between which other requests are answered. */
const partLength = 500;

/**
 * Records what an export told. A total that did not grow has no outcome.
 * @param spans those that tell no call of their own
 * @returns what became of the others
 * @throws ServiceError as `recordExport`
 */
export async function recordTold(
  exporter: Exporter,
  records: SourceRecord[],
  spans: TreeSpan[] = [],
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (let start = 0; start === 0 || start < records.length; start += partLength) {
    const part = records.slice(start, start + partLength);
    outcomes.push(...(await recordPart(exporter, part, start === 0 ? spans : [])));
  }
  return outcomes;
}

async function recordPart(
  exporter: Exporter,
  records: SourceRecord[],
  spans: TreeSpan[],
): Promise<Outcome[]> {
  if (records.length + spans.length === 0) return [];
  const { key } = exporter;
  const owner: Owner = { workspaceId: key.workspaceId, environment: key.environment };
  const totals = records.filter(isTotal);
  // What the key may not record advances no total. The ledger refuses it, and says why.
  const allowed = totals.filter((record) => isAllowed(record, key));
  const increments = await advanceTotals(
    owner,
    allowed.flatMap(({ series }) =>
      series
        ? [
            {
              series: series.id,
              startNs: series.startNs,
              timeNs: series.timeNs,
              value: series.value.toString(),
            },
          ]
        : [],
    ),
  );
  const submitted = [
    ...totals.filter((record) => !allowed.includes(record)),
    ...records.filter((record) => !isTotal(record)),
    ...withIncrements(allowed, increments.filter(isUsed)),
  ];
  nameHours(submitted, key.id);
  const verdicts = await recordCalls(exporter, submitted, spans);
  await settleTotals(owner, increments);
  return verdicts.flatMap((verdict, index) => {
    const record = submitted[index];
    return record ? [{ record, verdict }] : [];
  });
}

/**
 * What became of each of these records. A total that did not grow, or was recorded with a later one, is in a sum that is
 * counted already.
 */
function accountOf(records: readonly SourceRecord[], outcomes: readonly Outcome[]): AccountRow[] {
  const account = new Account();
  const nameOf = ({ keys }: SourceRecord) => keys.own[0] ?? "";
  const verdicts = new Map<string, Outcome["verdict"][]>();
  for (const { record, verdict } of outcomes) {
    const known = verdicts.get(nameOf(record));
    if (known) known.push(verdict);
    else verdicts.set(nameOf(record), [verdict]);
  }
  for (const record of records) {
    const verdict = verdicts.get(nameOf(record))?.shift();
    addOutcome(account, record, verdict);
  }
  return account.list();
}

/** Whether the key's permission and conditions admit a record; its limit is decided when it is recorded. */
function isAllowed(record: SourceRecord, key: ApiKey): boolean {
  const message = { type: "usage" as const, feature: featureOf(record, key), user: record.user };
  return decideAttempt(key, attemptOf({ project: projectOf(record, key), source: "api", message })) === null;
}

function isTotal({ series }: SourceRecord): boolean {
  return series?.isTotal === true;
}

/** The records of the increments of their series. An increment of an earlier export has its series' record of now. */
function withIncrements(
  records: SourceRecord[],
  increments: Awaited<ReturnType<typeof advanceTotals>>,
): SourceRecord[] {
  const bySeries = new Map(
    records.map((record) => [`${record.series?.id} ${record.series?.startNs}`, record]),
  );
  return increments.flatMap(({ series, startNs, fromNs, timeNs, used }) => {
    const record = bySeries.get(`${series} ${startNs}`);
    const [kind] = Object.keys(record?.tokens ?? {});
    if (!record || kind === undefined) return [];
    const occurredAt = new Date(Number(BigInt(timeNs) / 1_000_000n)).toISOString();
    const keys = { own: [seriesKey(series, startNs, timeNs)], outer: [], inner: [], within: [] };
    // An increment is no total any more: where it is refused and sent again, it counts what it counts now.
    const point = { ...record.series, startNs: fromNs, timeNs, isTotal: false, value: used };
    return [{ ...record, tokens: { [kind]: used }, occurredAt, keys, series: { ...point, id: series } }];
  });
}
