import { readAttributes, readOffered } from "./attributes";
import type { Entry } from "./entry";
import type { RawRecord, RawScope, RecordSignal } from "./records";

/** The spans or log records of an export in one list, in order. */
export function readRecords(
  signal: RecordSignal,
  scopes: readonly RawScope[],
  offered: ReadonlySet<string>,
): Entry[] {
  return scopes.flatMap(({ resource, scope, records }) => {
    const shared = readAttributes(resource);
    const resourceOffered = readOffered(resource, offered);
    return records.map((record): Entry => {
      const own = readAttributes(record.attributes);
      return {
        signal,
        // The attribute comes first: some emitters put a code location into the field for an event's name, which is newer.
        name: signal === "logs" ? String(own.get("event.name") ?? record.name) : record.name,
        scope,
        resource: shared,
        own,
        offered: readOffered(record.attributes, offered),
        resourceOffered,
        timeNs: record.timeNs || record.otherTimeNs,
        span: spanOf(signal, record),
        point: undefined,
      };
    });
  });
}

function spanOf(signal: RecordSignal, { trace, span, parent, otherTimeNs }: RawRecord): Entry["span"] {
  if (!isId(trace, 16) || !isId(span, 8)) return undefined;
  const startNs = signal === "traces" ? otherTimeNs : 0n;
  return { trace, id: span, parent: isId(parent, 8) ? parent : undefined, startNs };
}

/** Whether hex is an id with this number of bytes. An id of zeros is invalid (W3C Trace Context, 3.2.2). */
function isId(hex: string, bytes: number): boolean {
  return hex.length === 2 * bytes && /[^0]/.test(hex);
}
