import { isUsageMetric } from "@/lib/sources/emitters/allow-list";
import type { Intake } from "./intake";
import { maxValueDepth, type RawMetric, type RawPoint, type SeriesAttribute } from "./records";
import { WireReader } from "./wire-reader";

/*
 * Field numbers are those of opentelemetry-proto 1.11: `metrics_service.proto`, `metrics.proto`, `resource.proto`, `common.proto`.
 */

/** The field number of each kind of data in a metric → the field numbers of a point that are read. */
const pointFields: Record<number, Record<number, keyof RawPoint | "int" | undefined> | undefined> = {
  // Sum
  7: { 2: "startNs", 3: "timeNs", 4: "value", 6: "int", 7: "attributes", 8: "flags" },
  // Histogram
  9: { 2: "startNs", 3: "timeNs", 5: "value", 9: "attributes", 10: "flags" },
  // ExponentialHistogram
  10: { 1: "attributes", 2: "startNs", 3: "timeNs", 5: "value", 10: "flags" },
};

/** The fields of the kinds of metrics that report a current value (gauge, summary). */
const levelFields: typeof pointFields = {
  // Gauge
  5: { 2: "startNs", 3: "timeNs", 4: "value", 6: "int", 7: "attributes", 8: "flags" },
  // Summary
  11: { 2: "startNs", 3: "timeNs", 5: "value", 7: "attributes", 8: "flags" },
};

/**
 * Reads the points of sums and the sums of histograms of an export in binary protobuf, and of gauges and summaries those that
 * are named as usage. All their attributes are read, because they make a series.
 * @throws Error where the bytes are not such an export
 */
export function readMetricsProtobuf(bytes: Uint8Array, intake: Intake): RawMetric[] {
  return new MetricReader(bytes, intake).request();
}

type Shared = { attributes: SeriesAttribute[]; failure: Error | undefined };

class MetricReader extends WireReader {
  readonly #metrics: RawMetric[] = [];

  constructor(
    bytes: Uint8Array,
    private readonly intake: Intake,
  ) {
    super(bytes);
  }

  request(): RawMetric[] {
    for (let field = this.next(this.end); field > 0; field = this.next(this.end)) {
      if (field === 1) this.#readResource();
      else this.skip(field);
    }
    return this.#metrics;
  }

  #readResource(): void {
    this.intake.takeGroup();
    const shared: Shared = { attributes: [], failure: undefined };
    const end = this.begin();
    for (let field = this.next(end); field > 0; field = this.next(end)) {
      if (field === 1) this.#readShared(shared);
      else if (field === 2) this.#readScope(shared);
      else this.skip(field);
    }
  }

  #readShared(shared: Shared): void {
    const end = this.begin();
    try {
      for (let field = this.next(end); field > 0; field = this.next(end)) {
        if (field === 1) shared.attributes.push(this.#attribute());
        else this.skip(field);
      }
    } catch (error) {
      shared.failure = error as Error;
      this.leave(end);
    }
  }

  #readScope(shared: Shared): void {
    this.intake.takeGroup();
    let scope = "";
    const begun = this.#metrics.length;
    const end = this.begin();
    for (let field = this.next(end); field > 0; field = this.next(end)) {
      if (field === 1) scope = this.#nameIn();
      else if (field === 2) this.#readMetric(shared);
      else this.skip(field);
    }
    for (const metric of this.#metrics.slice(begun)) metric.scope = scope;
  }

  #nameIn(): string {
    let name = "";
    const end = this.begin();
    for (let field = this.next(end); field > 0; field = this.next(end)) {
      if (field === 1) name = this.name();
      else this.skip(field);
    }
    return name;
  }

  #readMetric({ attributes, failure }: Shared): void {
    this.intake.takeGroup();
    let name = "";
    const data: Pick<RawMetric, "temporality" | "points">[] = [];
    const end = this.begin();
    for (let field = this.next(end); field > 0; field = this.next(end)) {
      const fields = pointFields[field] ?? (isUsageMetric(name) ? levelFields[field] : undefined);
      if (field === 1) name = this.name();
      else if (fields) data.push(this.#data(fields, failure));
      else this.skip(field);
    }
    // The last one that is set counts, as in every `oneof`.
    const last = data.at(-1);
    if (last && last.points.length > 0)
      this.#metrics.push({ resource: attributes, scope: "", name, ...last });
  }

  #data(fields: Record<number, keyof RawPoint | "int" | undefined>, failure: Error | undefined) {
    const data: Pick<RawMetric, "temporality" | "points"> = { temporality: 0, points: [] };
    const end = this.begin();
    for (let field = this.next(end); field > 0; field = this.next(end)) {
      if (field === 1) {
        const ofPoint = this.begin();
        const point = this.intake.readRecord(() => this.#point(ofPoint, fields, failure));
        this.leave(ofPoint);
        if (point) data.points.push(point);
      } else if (field === 2) data.temporality = this.uint32();
      else this.skip(field);
    }
    return data;
  }

  #point(
    end: number,
    fields: Record<number, keyof RawPoint | "int" | undefined>,
    failure: Error | undefined,
  ): RawPoint {
    if (failure) throw failure;
    const point: RawPoint = { value: undefined, timeNs: 0n, startNs: 0n, flags: 0, attributes: [] };
    for (let field = this.next(end); field > 0; field = this.next(end)) {
      const name = fields[field];
      if (name === undefined) this.skip(field);
      else if (name === "attributes") point.attributes.push(this.#attribute());
      else if (name === "flags") point.flags = this.uint32();
      else if (name === "int") point.value = this.sfixed64();
      else if (name === "value") point.value = this.double();
      else point[name] = this.fixed64();
    }
    return point;
  }

  #attribute(depth = 0): SeriesAttribute {
    this.intake.takeAttribute();
    const read: SeriesAttribute = { key: "", value: undefined, hashed: null };
    const end = this.begin();
    for (let field = this.next(end); field > 0; field = this.next(end)) {
      if (field === 1) read.key = this.text();
      else if (field === 2) Object.assign(read, this.#value(depth + 1));
      else this.skip(field);
    }
    return read;
  }

  /** Reads a value. The last field that is set counts, as in every `oneof`. */
  #value(depth: number): Omit<SeriesAttribute, "key"> {
    if (depth > maxValueDepth) throw new RangeError("A value is nested too deep.");
    let read: Omit<SeriesAttribute, "key"> = { value: undefined, hashed: null };
    const end = this.begin();
    for (let field = this.next(end); field > 0; field = this.next(end)) {
      if (field === 1) read = scalar(this.text());
      else if (field === 2) read = scalar(this.bool());
      else if (field === 3) read = scalar(this.int64());
      else if (field === 4) read = scalar(this.double());
      else if (field === 5) read = { value: undefined, hashed: this.#list(depth, false) };
      else if (field === 6) read = { value: undefined, hashed: this.#list(depth, true) };
      else if (field === 7) read = { value: undefined, hashed: this.text("hex") };
      else this.skip(field);
    }
    return read;
  }

  #list(depth: number, isNamed: boolean): unknown[] {
    const values: unknown[] = [];
    const end = this.begin();
    for (let field = this.next(end); field > 0; field = this.next(end)) {
      if (field !== 1) this.skip(field);
      else if (isNamed) {
        const { key, hashed } = this.#attribute(depth);
        values.push([key, hashed]);
      } else {
        this.intake.takeAttribute();
        values.push(this.#value(depth + 1).hashed);
      }
    }
    return values;
  }
}

/** An int and a double of the same number are hashed the same. */
function scalar(value: string | boolean | bigint | number): Omit<SeriesAttribute, "key"> {
  return { value, hashed: typeof value === "bigint" ? Number(value) : value };
}
