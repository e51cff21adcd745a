import type { Scalar } from "./entry";

/** An attribute with a value of a type that is read: not a list, not bytes. */
export type Attribute = readonly [key: string, value: Scalar];

/** The fields of a span or log record that are read. Ids are lower-case hex; "" for none. */
export type RawRecord = {
  name: string;
  trace: string;
  span: string;
  parent: string;
  /** When it ended or happened, and the time to use if that is 0: nanoseconds since 1970. */
  timeNs: bigint;
  otherTimeNs: bigint;
  attributes: Attribute[];
};

/** The records of one resource and one scope. */
export type RawScope = { resource: Attribute[]; scope: string; records: RawRecord[] };

/** The signals of which only few attributes are read. */
export type RecordSignal = "traces" | "logs";

/** Whether an attribute of this name is read. */
export type IsRead = (key: string) => boolean;

/** An attribute of a series. `value`: undefined for lists and bytes. `hashed`: the value, of any type, in the form that is hashed. */
export type SeriesAttribute = { key: string; value: Scalar | undefined; hashed: unknown };

/** A point of a sum or a gauge, or the sum of a histogram or a summary. `value`: undefined where it has none. */
export type RawPoint = {
  value: number | bigint | undefined;
  timeNs: bigint;
  startNs: bigint;
  flags: number;
  attributes: SeriesAttribute[];
};

/** A metric with points. `temporality`: 1 for delta, 2 for cumulative, as OTLP has them; 0 for gauges and summaries, which have none. */
export type RawMetric = {
  resource: SeriesAttribute[];
  scope: string;
  name: string;
  temporality: number;
  points: RawPoint[];
};

/** Longer texts are cut: they are not names, ids or counts, and an id of this length is unique in practice. */
export const maxTextLength = 500;

/** How deep lists may be nested in an attribute's value. */
export const maxValueDepth = 100;
