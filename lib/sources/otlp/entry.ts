/** The kind of telemetry in an export. */
export type Signal = "traces" | "metrics" | "logs";

export type Scalar = string | number | bigint | boolean;

/** Attributes by name. Only those on the allow-list were read (`emitters/allow-list.ts`). */
export type Attributes = ReadonlyMap<string, Scalar>;

/** A data point of a metric. `value`: exact decimal text. `startNs`: nanoseconds since 1970; 0 if unknown. */
export type Point = {
  value: string;
  startNs: bigint;
  /** Whether the value is a running total since `startNs` (cumulative temporality) instead of an increment (delta). */
  isTotal: boolean;
  /** A gauge, a summary, or a sum without a temporality: nobody can say what it adds to earlier points, so it counts nothing. */
  isLevel?: true;
  /** Identifies the series: a hash of resource, scope, metric and every attribute. */
  series: string;
};

/** A span, a log record or a data point, with only the attributes that are read. */
export type Entry = {
  signal: Signal;
  /** The name of the span, the event or the metric. */
  name: string;
  scope: string;
  resource: Attributes;
  own: Attributes;
  /** The attributes that the settings of sources may use: the record's own, and those of its resource. */
  offered: Attributes;
  resourceOffered: Attributes;
  /** When the span ended, the event happened or the point was taken: nanoseconds since 1970; 0 if unknown. */
  timeNs: bigint;
  /** Hex ids; undefined if the record has no valid ids. `startNs`: when a span began, nanoseconds since 1970; 0 if unknown. */
  span: { trace: string; id: string; parent: string | undefined; startNs: bigint } | undefined;
  point: Point | undefined;
};
