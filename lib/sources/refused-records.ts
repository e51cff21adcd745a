import { z } from "zod";
import { parseDecimal } from "@/lib/decimal";
import { marksAround } from "@/lib/ledger/ingest/call";
import { pricedTiers } from "@/lib/ledger/pricing/price-table";
import { tokenKinds } from "./emitters/emitter";
import type { SourceRecord } from "./mapping/source-record";

/** The most refused records of one request that are stored, and the most bytes of their JSON. */
const maxRecords = 500;
const maxBytes = 256 * 1024;

/**
 * Prepares refused records to be stored, without their scopes, which may be any text.
 * @returns `count`: the most records that are stored; `pack()`: encodes them
 */
export function packRecords(records: SourceRecord[]): { count: number; pack: () => unknown[] } {
  const first = records.slice(0, maxRecords);
  return { count: first.length, pack: () => pack(first) };
}

/** Encodes records as JSON. Stops before the record that would exceed the limit of bytes (`maxBytes`). */
export function pack(records: SourceRecord[]): unknown[] {
  let bytes = 0;
  const packed: unknown[] = [];
  for (const { scope: _, leftOut: __, offered, ...record } of records) {
    const { reports: tellings, within, ...ids } = record.keys;
    const keys = { ...ids, within: marksAround(within, new Set()), tellings };
    const one = { ...record, keys, offered: [...offered].map(([name, value]) => [name, String(value)]) };
    // Postgres cannot store NUL and lone surrogates in JSON.
    const text = JSON.stringify(one, (_name, value) =>
      typeof value === "string" ? value.toWellFormed().replaceAll("\u0000", "") : value,
    );
    bytes += Buffer.byteLength(text);
    if (bytes > maxBytes) break;
    packed.push(JSON.parse(text));
  }
  return packed;
}

const decimal = z.string().transform(parseDecimal);
const optional = z.string().optional();

const spanNames = z.object({
  user: optional,
  session: optional,
  feature: optional,
  project: optional,
  chosenFeature: optional,
  chosenProject: optional,
  tags: z.record(z.string(), z.string()).optional(),
});

const report = z.object({
  likeness: z.number(),
  scope: z.number(),
  trace: z.number(),
  started_us: z.number(),
  ended_us: z.number(),
  ids: z.number(),
  cache: z.number(),
  rank: z.number(),
  emitter: z.string(),
  span: z.number().optional(),
  parent: z.number().nullable().optional(),
  names: spanNames.nullable().optional(),
});

/** The schema of a stored record. Fields without a value are missing. */
const record = z.object({
  emitter: z.string(),
  isKnownEmitter: z.boolean(),
  service: z.string(),
  occurredAt: optional,
  provider: z.string(),
  model: optional,
  tokens: z.partialRecord(z.enum(tokenKinds), decimal),
  requestInput: decimal.optional(),
  tier: z.enum(pricedTiers).optional(),
  givenCostUsd: decimal.optional(),
  isCostTrusted: z.boolean(),
  isIncluded: z.boolean(),
  user: optional,
  session: optional,
  project: optional,
  feature: optional,
  tags: z.record(z.string(), z.string()),
  offered: z.array(z.tuple([z.string(), z.string()])).transform((pairs) => new Map(pairs)),
  keys: z
    .object({
      own: z.array(z.string()),
      outer: z.array(z.string()),
      inner: z.array(z.string()),
      within: z.array(z.string().transform((mark) => ({ mark, outer: undefined }))),
      /** The stored name of `reports`. */
      tellings: z.array(report).optional(),
    })
    .transform(({ tellings, ...keys }) => ({ ...keys, reports: tellings })),
  series: z
    .object({ id: z.string(), startNs: z.string(), timeNs: z.string(), isTotal: z.boolean(), value: decimal })
    .optional(),
  claims: z.array(z.string()),
});

/** Reads stored records. @throws Error if `pack` has not written them */
export function unpack(packed: unknown[]): SourceRecord[] {
  return packed.map((one) => ({ scope: "", leftOut: [], ...record.parse(one) }) as SourceRecord);
}
