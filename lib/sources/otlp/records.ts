import type { Scalar } from "./entry";

/** An attribute with a value of one of the types that are read: no lists, no bytes. */
export type Attribute = readonly [key: string, value: Scalar];

/** A span or a log record as it was sent, without what is not read. Ids are lower-case hex, "" where there is none. */
export type RawRecord = {
  name: string;
  trace: string;
  span: string;
  parent: string;
  /** When it ended or happened, and what to use where that is 0: nanoseconds since 1970. */
  timeNs: bigint;
  otherTimeNs: bigint;
  attributes: Attribute[];
};

/** The records of one resource and one scope. */
export type RawScope = { resource: Attribute[]; scope: string; records: RawRecord[] };

/** The signals whose records have attributes of which few are read. */
export type RecordSignal = "traces" | "logs";

/** Whether an attribute of this name is read. */
export type IsRead = (key: string) => boolean;

/** An attribute of a series. `value`: undefined for lists and bytes. `hashed`: the value of any type, as it is hashed. */
export type SeriesAttribute = { key: string; value: Scalar | undefined; hashed: unknown };

/** A point of a sum, or the sum of a histogram. `value`: undefined where it has none. */
export type RawPoint = {
  value: number | bigint | undefined;
  timeNs: bigint;
  startNs: bigint;
  flags: number;
  attributes: SeriesAttribute[];
};

/** A metric with points that count. `temporality`: 1 for delta, 2 for cumulative, as OTLP has them. */
export type RawMetric = {
  resource: SeriesAttribute[];
  scope: string;
  name: string;
  temporality: number;
  points: RawPoint[];
};

/** Longer texts are no names, ids or counts; they are cut, which leaves an id as unique as it was in practice. */
export const maxTextLength = 500;

/** The most lists inside each other in an attribute's value. */
export const maxValueDepth = 100;
