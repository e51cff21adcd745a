import type { ReplayResult } from "@/lib/contract/sources/sources";
import { notFound, ServiceError } from "@/lib/errors";
import { findKey } from "@/lib/keys/guard";
import { settleRefused, takeRefused } from "@/lib/keys/sources/service";
import { countOutcomes } from "./count-outcomes";
import { recordSourceRecords } from "./record-export";
import { pack, unpack } from "./refused-records";

/**
 * Sends the stored refused records of a source again, under the present conditions and settings of its key. Calls that were recorded
 * meanwhile are not recorded again. Records that are refused again stay stored.
 * @throws ServiceError not_found, permission_denied, conflict if the key is revoked or expired, rate_limited, unavailable
 */
export async function replayRefused(...which: Parameters<typeof takeRefused>): Promise<ReplayResult> {
  const { workspaceId, lookup, exports } = await takeRefused(...which);
  const [, , id] = which;
  const key = await findKey(lookup);
  if (!key) throw notFound();
  const result: ReplayResult = { sent: 0, recorded: 0, repeated: 0, refused: 0, skipped: 0, reasons: [] };
  for (const { id: exportId, address, records: packed } of exports) {
    const records = unpack(packed);
    const exporter = { key, lookup, address: address ?? undefined };
    const outcomes = await recordSourceRecords(exporter, records).catch(asConflict);
    const refused = outcomes.filter(({ verdict }) => verdict instanceof ServiceError);
    await settleRefused({ workspaceId, keyId: id, exportId }, pack(refused.map(({ record }) => record)));
    // Records that are refused again were counted when they arrived.
    countOutcomes(
      exporter,
      [],
      outcomes.filter(({ verdict }) => !(verdict instanceof ServiceError)),
      { keeps: false },
    );
    result.sent += records.length;
    result.refused += refused.length;
    result.skipped += records.length - outcomes.length;
    for (const { verdict } of outcomes) {
      if (verdict instanceof ServiceError) addReason(result, verdict);
      else if (verdict.replayed) result.repeated += 1;
      else result.recorded += 1;
    }
  }
  return result;
}

/** Turns 401 and 403 into a conflict: they are about the source's key, not about the credentials of this request. */
function asConflict(error: unknown): never {
  if (error instanceof ServiceError && (error.status === 401 || error.status === 403))
    throw new ServiceError("conflict", error.message);
  throw error;
}

/** The most reasons of an answer. */
const maxReasons = 20;

function addReason({ reasons }: ReplayResult, { code, message }: ServiceError): void {
  const known = reasons.find((reason) => reason.code === code && reason.description === message);
  if (known) known.count += 1;
  else if (reasons.length < maxReasons) reasons.push({ code, description: message, count: 1 });
}
