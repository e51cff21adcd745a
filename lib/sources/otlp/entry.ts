/** What an export carries. */
export type Signal = "traces" | "metrics" | "logs";

export type Scalar = string | number | bigint | boolean;

/** Attributes by name. Only those on the allow-list were read (`emitters/allow-list.ts`). */
export type Attributes = ReadonlyMap<string, Scalar>;

/** A number of a metric, as exact decimal text. Times are nanoseconds since 1970; 0 where they are unknown. */
export type Point = {
  value: string;
  startNs: bigint;
  /** Whether the value is the total since `startNs` (cumulative temporality) and not the change since then (delta). */
  isTotal: boolean;
  /** Identifies the series: a hash of resource, scope, metric and every attribute. */
  series: string;
};

/** A span, a log record or a data point, without what the table of emitters does not ask for. */
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
  /** When the span ended, the event happened or the point was taken: nanoseconds since 1970, 0 where unknown. */
  timeNs: bigint;
  /** Hex ids; undefined where the record has no valid ones. `startNs`: when a span began; 0 where unknown. */
  span: { trace: string; id: string; parent: string | undefined; startNs: bigint } | undefined;
  point: Point | undefined;
};
