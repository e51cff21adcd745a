import { ServiceError } from "@/lib/errors";
import type { ApiKey } from "@/lib/keys/api-key";
import { decideAttempt } from "@/lib/keys/decide";
import { attemptOf } from "@/lib/ledger/ingest/attempt";
import { advanceTotals, isUsed, type Owner, settleTotals } from "@/lib/ledger/telemetry/running-totals";
import { claimTellings } from "@/lib/ledger/telemetry/tellings";
import { seriesKey } from "./mapping/call-keys";
import type { Mapped } from "./mapping/map-export";
import type { SourceRecord } from "./mapping/source-record";
import { featureOf, projectOf } from "./mapping/source-settings";
import { noteOutcomes, type Outcome } from "./note-outcomes";
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
  { records, remarks, refused: unreadable }: Mapped,
): Promise<ExportOutcome> {
  const { outcomes, held } = await recordTold(exporter, records);
  noteOutcomes(exporter, records, outcomes, { unreadable });
  const refusals = new Refusals();
  for (const { error, count } of unreadable) refusals.add(error, count);
  for (const { verdict } of outcomes) if (verdict instanceof ServiceError) refusals.add(verdict);
  const refused = refusals.list();
  const reasons = refused.map(({ error, count }) => `${count} refused: ${error.code}: ${error.message}`);
  return {
    refused: refused.reduce((sum, { count }) => sum + count, 0),
    remarks: [...reasons, ...held, ...remarks].slice(0, maxRemarks),
  };
}

/**
 * Records what an export told. Records that are counted in another way, or that add nothing to a running total, have no
 * outcome.
 * @returns what became of the others, and remarks about those that are counted in another way
 * @throws ServiceError as `recordExport`
 */
export async function recordTold(
  exporter: Exporter,
  records: SourceRecord[],
): Promise<{ outcomes: Outcome[]; held: string[] }> {
  const { key } = exporter;
  const owner: Owner = { workspaceId: key.workspaceId, environment: key.environment };
  // What the key may not record takes no session and advances no total. The ledger refuses it, and says why.
  const allowed = records.filter((record) => isAllowed(record, key));
  const { counted, held } = await withoutOtherTelling(owner, key, allowed);
  // Totals advance even where they are not counted: what the other telling counted must not count when they are, later.
  const increments = await advanceTotals(
    owner,
    allowed.filter(isTotal).flatMap(({ series }) =>
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
    ...(allowed.length < records.length ? records.filter((record) => !isAllowed(record, key)) : []),
    ...counted.filter((record) => !isTotal(record)),
    ...withIncrements(counted.filter(isTotal), increments.filter(isUsed)),
  ];
  const verdicts = await recordCalls(exporter, submitted);
  await settleTotals(owner, increments);
  const outcomes = verdicts.flatMap((verdict, index) => {
    const record = submitted[index];
    return record ? [{ record, verdict }] : [];
  });
  return { outcomes, held };
}

/** Whether the key's permission and conditions admit a record; its limit is decided when it is recorded. */
function isAllowed(record: SourceRecord, key: ApiKey): boolean {
  const message = { type: "usage" as const, feature: featureOf(record, key), user: record.user };
  return decideAttempt(key, attemptOf({ project: projectOf(record, key), source: "api", message })) === null;
}

function isTotal({ series }: SourceRecord): boolean {
  return series?.isTotal === true;
}

/** Leaves out records of sessions and services whose calls are already reported in another way. */
async function withoutOtherTelling(owner: Owner, { id }: ApiKey, records: SourceRecord[]) {
  const tellingOf = ({ series }: SourceRecord) => (series ? ("sums" as const) : ("calls" as const));
  const held = new Map<string, Set<string>>();
  for (const telling of ["calls", "sums"] as const) {
    const units = records.filter((record) => tellingOf(record) === telling).flatMap(({ claims }) => claims);
    if (units.length > 0) held.set(telling, await claimTellings(owner, id, telling, units));
  }
  const isHeld = (record: SourceRecord) =>
    record.claims.some((unit) => held.get(tellingOf(record))?.has(unit));
  const services = new Set(
    records.flatMap((record) => (tellingOf(record) === "calls" && isHeld(record) ? [record.service] : [])),
  );
  return {
    counted: records.filter((record) => !isHeld(record)),
    held: [...services].map(
      (service) =>
        `Calls of the service ${JSON.stringify(service)} are not counted, because its metrics came first and count them. Stop sending its metrics; a day later its calls count.`,
    ),
  };
}

/** The records of the increments of their series. An increment of an earlier export has its series' record of now. */
function withIncrements(
  records: SourceRecord[],
  increments: Awaited<ReturnType<typeof advanceTotals>>,
): SourceRecord[] {
  const bySeries = new Map(
    records.map((record) => [`${record.series?.id} ${record.series?.startNs}`, record]),
  );
  return increments.flatMap(({ series, startNs, timeNs, used }) => {
    const record = bySeries.get(`${series} ${startNs}`);
    const [kind] = Object.keys(record?.tokens ?? {});
    if (!record || kind === undefined) return [];
    const occurredAt = new Date(Number(BigInt(timeNs) / 1_000_000n)).toISOString();
    const keys = { own: [seriesKey(series, startNs, timeNs)], outer: [], inner: [], within: [] };
    // An increment is no total any more: where it is refused and sent again, it counts what it counts now.
    const point = { ...record.series, startNs, timeNs, isTotal: false, value: used };
    return [{ ...record, tokens: { [kind]: used }, occurredAt, keys, series: { ...point, id: series } }];
  });
}
