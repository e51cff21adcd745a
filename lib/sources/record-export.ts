import { ServiceError } from "@/lib/errors";
import type { ApiKey } from "@/lib/keys/api-key";
import { decideAttempt } from "@/lib/keys/decide";
import { attemptOf } from "@/lib/ledger/ingest/attempt";
import { advanceTotals, isUsed, type Owner, settleTotals } from "@/lib/ledger/telemetry/running-totals";
import type { TreeSpan } from "@/lib/ledger/telemetry/span-tree";
import { addOutcome, countOutcomes, type Outcome } from "./count-outcomes";
import { Refusals } from "./decoded";
import { seriesKey } from "./mapping/call-keys";
import type { Mapped } from "./mapping/map-export";
import { nameHours } from "./mapping/signal-claims";
import type { SourceRecord } from "./mapping/source-record";
import { featureOf, projectOf } from "./mapping/source-settings";
import { type OutcomeCount, OutcomeCounts } from "./outcome-counts";
import { type Exporter, recordCalls } from "./record-calls";

/** The outcome of an export: the number of refused records, and the reasons and remarks for whoever runs the emitter. */
export type ExportOutcome = { refused: number; remarks: string[] };

/** The most reasons and remarks of an answer. */
const maxRemarks = 20;

/**
 * Records the calls of models that an export reports. Each is one message, which the key's permissions and conditions decide like any
 * other. Calls that were recorded before are not recorded again.
 * @throws ServiceError if it is unknown what was recorded, or if the key may no longer be used; then the export can be sent again
 */
export async function recordExport(
  exporter: Exporter,
  { records, spans, remarks, refused: unreadable, leftOut }: Mapped,
): Promise<ExportOutcome> {
  const outcomes = await recordSourceRecords(exporter, records, spans);
  const account = [...leftOut, ...accountOf(records, outcomes)];
  countOutcomes(exporter, records, outcomes, { unreadable, account });
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

/** How many records are recorded at once. A larger export is split, so that other requests are answered in between. */
const partLength = 500;

/**
 * Records decoded records. A total that did not grow has no outcome.
 * @param spans the spans that report no call
 * @returns the outcomes of the records
 * @throws ServiceError as `recordExport`
 */
export async function recordSourceRecords(
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
  // Points that the key may not record do not advance a total. The ledger refuses them with the reason.
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
 * Counts the outcomes of records. A total that did not grow, or was recorded with a later total, counts as part of a sum that was
 * recorded already.
 */
function accountOf(records: readonly SourceRecord[], outcomes: readonly Outcome[]): OutcomeCount[] {
  const account = new OutcomeCounts();
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

/** Whether the key's permissions and conditions admit a record. Its limit is checked when the record is recorded. */
function isAllowed(record: SourceRecord, key: ApiKey): boolean {
  const message = { type: "usage" as const, feature: featureOf(record, key), user: record.user };
  return decideAttempt(key, attemptOf({ project: projectOf(record, key), source: "api", message })) === null;
}

function isTotal({ series }: SourceRecord): boolean {
  return series?.isTotal === true;
}

/** Makes a record for each increment from the record of its series, even if the increment is left over from an earlier export. */
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
    // An increment is not a total, so that it counts the same if it is refused and sent again.
    const point = { ...record.series, startNs: fromNs, timeNs, isTotal: false, value: used };
    return [{ ...record, tokens: { [kind]: used }, occurredAt, keys, series: { ...point, id: series } }];
  });
}
