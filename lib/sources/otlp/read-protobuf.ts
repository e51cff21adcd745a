import type { Scalar } from "./entry";
import type { Intake } from "./intake";
import type { Attribute, IsRead, RawRecord, RawScope, RecordSignal } from "./records";
import { WireReader } from "./wire-reader";

/*
 * Field numbers are those of opentelemetry-proto 1.11: `trace_service.proto`, `trace.proto`, `logs_service.proto`, `logs.proto`,
 * `resource.proto`, `common.proto`. Both signals nest in the same way: a request has resources, which have scopes, which have
 * records.
 */

/** The fields of a span or log record that are read, by field number. */
const recordFields: Record<RecordSignal, Record<number, keyof RawRecord | undefined>> = {
  traces: {
    1: "trace",
    2: "span",
    4: "parent",
    5: "name",
    7: "otherTimeNs",
    8: "timeNs",
    9: "attributes",
  },
  logs: { 1: "timeNs", 6: "attributes", 9: "trace", 10: "span", 11: "otherTimeNs", 12: "name" },
};

/**
 * Reads the spans or log records of an export in binary protobuf. Skips other fields without decoding them, because most of an export is
 * prompts and answers.
 * @throws Error if the bytes are not such an export
 */
export function readProtobuf(
  signal: RecordSignal,
  bytes: Uint8Array,
  isRead: IsRead,
  intake: Intake,
): RawScope[] {
  return new RecordReader(bytes, recordFields[signal], isRead, intake).request();
}

/** The attributes of a resource. `failure`: the error because of which they could not all be read. */
type Shared = { attributes: Attribute[]; failure: Error | undefined };

class RecordReader extends WireReader {
  constructor(
    bytes: Uint8Array,
    private readonly fields: Record<number, keyof RawRecord | undefined>,
    private readonly isRead: IsRead,
    private readonly intake: Intake,
  ) {
    super(bytes);
  }

  request(): RawScope[] {
    const scopes: RawScope[] = [];
    for (let field = this.next(this.end); field > 0; field = this.next(this.end)) {
      if (field === 1) this.#readResource(scopes);
      else this.skip(field);
    }
    return scopes;
  }

  #readResource(scopes: RawScope[]): void {
    this.intake.takeGroup();
    const shared: Shared = { attributes: [], failure: undefined };
    const end = this.begin();
    for (let field = this.next(end); field > 0; field = this.next(end)) {
      if (field === 1) this.#readShared(shared);
      else if (field === 2) this.#readScope(shared, scopes);
      else this.skip(field);
    }
  }

  #readShared(shared: Shared): void {
    const end = this.begin();
    try {
      for (let field = this.next(end); field > 0; field = this.next(end)) {
        if (field === 1) this.#readAttribute(shared.attributes);
        else this.skip(field);
      }
    } catch (error) {
      shared.failure = error as Error;
      this.leave(end);
    }
  }

  #readScope({ attributes, failure }: Shared, scopes: RawScope[]): void {
    this.intake.takeGroup();
    const read: RawScope = { resource: attributes, scope: "", records: [] };
    const end = this.begin();
    for (let field = this.next(end); field > 0; field = this.next(end)) {
      if (field === 1) read.scope = this.#scopeName();
      else if (field === 2) {
        const ofRecord = this.begin();
        const record = this.intake.readRecord(() => this.#record(ofRecord, failure));
        this.leave(ofRecord);
        if (record) read.records.push(record);
      } else this.skip(field);
    }
    if (read.records.length > 0) scopes.push(read);
  }

  #scopeName(): string {
    let name = "";
    const end = this.begin();
    for (let field = this.next(end); field > 0; field = this.next(end)) {
      if (field === 1) name = this.name();
      else this.skip(field);
    }
    return name;
  }

  #record(end: number, failure: Error | undefined): RawRecord {
    if (failure) throw failure;
    const record: RawRecord = {
      name: "",
      trace: "",
      span: "",
      parent: "",
      timeNs: 0n,
      otherTimeNs: 0n,
      attributes: [],
    };
    for (let field = this.next(end); field > 0; field = this.next(end)) {
      const name = this.fields[field];
      if (name === undefined) this.skip(field);
      else if (name === "attributes") this.#readAttribute(record.attributes);
      else if (name === "timeNs" || name === "otherTimeNs") record[name] = this.fixed64();
      else record[name] = name === "name" ? this.name() : this.text("hex");
    }
    return record;
  }

  #readAttribute(into: Attribute[]): void {
    this.intake.takeAttribute();
    let key = "";
    let value: Scalar | undefined;
    const end = this.begin();
    for (let field = this.next(end); field > 0; field = this.next(end)) {
      if (field === 1) key = this.text();
      // A value before its key is allowed, though no encoder writes it.
      else if (field === 2 && (key === "" || this.isRead(key))) value = this.#value();
      else this.skip(field);
    }
    if (value !== undefined && this.isRead(key)) into.push([key, value]);
  }

  /** Reads a value; undefined for lists and bytes. The last field that is set counts, as in every `oneof`. */
  #value(): Scalar | undefined {
    let value: Scalar | undefined;
    const end = this.begin();
    for (let field = this.next(end); field > 0; field = this.next(end)) {
      if (field === 1) value = this.text();
      else if (field === 2) value = this.bool();
      else if (field === 3) value = this.int64();
      else if (field === 4) value = this.double();
      else {
        this.skip(field);
        if (field <= 7) value = undefined;
      }
    }
    return value;
  }
}
