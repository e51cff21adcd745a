import { parseDecimal } from "@/lib/decimal";
import { type ErrorCode, ServiceError } from "@/lib/errors";
import type { Around } from "@/lib/ledger/ingest/call";
import { slicer } from "@/lib/slices";
import type { Decoded, DecodedItem } from "@/lib/sources/decoded";
import type { OutcomeCount } from "@/lib/sources/outcome-counts";

type SentError = { code: ErrorCode; message: string; fields: object; headers: object };

/**
 * A decoded body in the form in which it is sent between threads. `chunks`: JSON of a few hundred items each, which the receiver parses
 * in slices; it would have to receive a list of objects at once. `marks`: the spans around the records, which the items refer to by
 * index. `outer`: for each of these, the index of the span around it, or -1. `spans`: JSON.
 */
export type Sent = {
  chunks: string[];
  marks: string[];
  outer: number[];
  spans: string;
  remarks: string[];
  refused: { error: SentError; count: number }[];
  leftOut: OutcomeCount[];
};

const chunkLength = 200;

/** A refusal in a form that another thread can receive. */
export function packError({ code, message, fields, headers }: ServiceError): SentError {
  return { code, message, fields, headers };
}

/** The refusal that `packError` packed. */
export function unpackError({ code, message, fields, headers }: SentError): ServiceError {
  return new ServiceError(code, message, { ...fields }, { ...headers });
}

/**
 * Packs a decoded body to be sent to another thread. `pack` and `unpack` change the records in place, because V8 takes longer to copy an
 * object with other properties than to write it as JSON.
 */
export function pack({ items, spans, remarks, refused, leftOut }: Decoded): Sent {
  const places = new Map<Around, number>();
  const marks: string[] = [];
  const outer: number[] = [];
  const placeOf = (start: Around): number => {
    for (let at: Around | undefined = start; at && !places.has(at); at = at.outer) {
      places.set(at, marks.push(at.mark) - 1);
      // The index that the span around it has already, or gets in the next step.
      outer.push(at.outer ? (places.get(at.outer) ?? marks.length) : -1);
    }
    return places.get(start) as number;
  };
  const sent = items.map((item) => {
    if (item instanceof ServiceError) return { error: packError(item) };
    if (item === "no usage") return item;
    const changed = item as { offered: unknown; keys: { within: unknown } };
    changed.offered = Array.from(item.offered, ([name, value]) => [name, String(value)]);
    changed.keys.within = item.keys.within.map(placeOf);
    return item;
  });
  const chunks: string[] = [];
  for (let start = 0; start < sent.length; start += chunkLength)
    chunks.push(JSON.stringify(sent.slice(start, start + chunkLength)));
  const packed = refused.map(({ error, count }) => ({ error: packError(error), count }));
  return { chunks, marks, outer, spans: JSON.stringify(spans), remarks, refused: packed, leftOut };
}

/** Unpacks a body that another thread packed, in slices. */
export async function unpack({
  chunks,
  marks,
  outer,
  spans,
  remarks,
  refused,
  leftOut,
}: Sent): Promise<Decoded> {
  const around = marks.map((mark): Around => ({ mark, outer: undefined }));
  for (const [index, each] of around.entries()) each.outer = around[outer[index] as number];
  const items: DecodedItem[] = [];
  const pause = slicer();
  for (const chunk of chunks) {
    for (const item of JSON.parse(chunk)) items.push(unpackItem(item, around));
    await pause();
  }
  return {
    items,
    spans: JSON.parse(spans),
    remarks,
    refused: refused.map(({ error, count }) => ({ error: unpackError(error), count })),
    leftOut,
  };
}

/** Restores an item: in JSON, decimals are text and maps are lists of pairs. */
// biome-ignore lint/suspicious/noExplicitAny: it is what `pack` wrote
function unpackItem(item: any, spans: Around[]): DecodedItem {
  if (item === "no usage") return item;
  if (item.error) return unpackError(item.error);
  const { tokens, keys, series } = item;
  for (const kind in tokens) tokens[kind] = parseDecimal(tokens[kind]);
  if (item.requestInput !== undefined) item.requestInput = parseDecimal(item.requestInput);
  if (item.givenCostUsd !== undefined) item.givenCostUsd = parseDecimal(item.givenCostUsd);
  if (series) series.value = parseDecimal(series.value);
  item.offered = new Map(item.offered);
  keys.within = keys.within.map((place: number) => spans[place]);
  return item;
}
