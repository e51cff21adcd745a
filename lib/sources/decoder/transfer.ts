import { parseDecimal } from "@/lib/decimal";
import { type ErrorCode, ServiceError } from "@/lib/errors";
import type { Around } from "@/lib/ledger/ingest/call";
import { slicer } from "@/lib/slices";
import type { AccountRow } from "@/lib/sources/account";
import type { SourceRecord } from "@/lib/sources/mapping/source-record";
import type { Decoded, DecodedItem } from "@/lib/sources/told";

type SentError = { code: ErrorCode; message: string; fields: object; headers: object };

/**
 * What a body tells, as it goes from one thread to another. `chunks`: JSON of a few hundred items each, so that the receiver
 * can read them in slices; a thread reads a list of objects in one go. `marks` and `outer`: the spans around the records,
 * which their records name by their place, and the place of the span around each or -1.
 */
export type Sent = {
  chunks: string[];
  marks: string[];
  outer: number[];
  remarks: string[];
  refused: { error: SentError; count: number }[];
  leftOut: AccountRow[];
};

const chunkLength = 200;

export function packError({ code, message, fields, headers }: ServiceError): SentError {
  return { code, message, fields, headers };
}

export function unpackError({ code, message, fields, headers }: SentError): ServiceError {
  return new ServiceError(code, message, { ...fields }, { ...headers });
}

/** Packs what a body tells, to be sent to another thread. */
export function pack({ told, remarks, refused, leftOut }: Decoded): Sent {
  const places = new Map<Around, number>();
  const marks: string[] = [];
  const outer: number[] = [];
  const placeOf = (start: Around): number => {
    for (let at: Around | undefined = start; at && !places.has(at); at = at.outer) {
      places.set(at, marks.push(at.mark) - 1);
      // The place that the span around it gets next, or has.
      outer.push(at.outer ? (places.get(at.outer) ?? marks.length) : -1);
    }
    return places.get(start) as number;
  };
  const items = told.map((item) => {
    if (item instanceof ServiceError) return { error: packError(item) };
    if (item === "no usage") return item;
    const offered = [...item.offered].map(([name, value]) => [name, String(value)]);
    return { ...item, offered, keys: { ...item.keys, within: item.keys.within.map(placeOf) } };
  });
  const chunks: string[] = [];
  for (let start = 0; start < items.length; start += chunkLength)
    chunks.push(JSON.stringify(items.slice(start, start + chunkLength)));
  const packed = refused.map(({ error, count }) => ({ error: packError(error), count }));
  return { chunks, marks, outer, remarks, refused: packed, leftOut };
}

/** Unpacks what another thread packed, in slices. */
export async function unpack({ chunks, marks, outer, remarks, refused, leftOut }: Sent): Promise<Decoded> {
  const spans = marks.map((mark): Around => ({ mark, outer: undefined }));
  for (const [index, span] of spans.entries()) span.outer = spans[outer[index] as number];
  const told: DecodedItem[] = [];
  const pause = slicer();
  for (const chunk of chunks) {
    for (const item of JSON.parse(chunk)) told.push(unpackItem(item, spans));
    await pause();
  }
  return {
    told,
    remarks,
    refused: refused.map(({ error, count }) => ({ error: unpackError(error), count })),
    leftOut,
  };
}

/** JSON has decimals as text, and maps as lists. */
// biome-ignore lint/suspicious/noExplicitAny: it is what `pack` wrote
function unpackItem(item: any, spans: Around[]): DecodedItem {
  if (item === "no usage") return item;
  if (item.error) return unpackError(item.error);
  const { tokens, requestInput, givenCostUsd, offered, keys, series, ...rest } = item;
  const decimal = (text: string | undefined) => (text === undefined ? undefined : parseDecimal(text));
  return {
    ...rest,
    tokens: Object.fromEntries(
      Object.entries(tokens).map(([kind, text]) => [kind, parseDecimal(text as string)]),
    ),
    requestInput: decimal(requestInput),
    givenCostUsd: decimal(givenCostUsd),
    offered: new Map(offered),
    keys: { ...keys, within: keys.within.map((place: number) => spans[place]) },
    series: series && { ...series, value: parseDecimal(series.value) },
  } as SourceRecord;
}
