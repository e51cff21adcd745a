import { Buffer } from "node:buffer";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import type { Scalar } from "./entry";
import type { Attribute, IsRead, RawRecord, RawScope, RecordSignal } from "./records";

/*
 * Field numbers are those of opentelemetry-proto 1.11: `trace_service.proto`, `trace.proto`, `logs_service.proto`, `logs.proto`,
 * `resource.proto`, `common.proto`. Both signals nest in the same way: a request has resources, which have scopes, which have
 * records.
 */

/** What is read of a span or log record, by the number of its field. */
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
 * Reads the spans or log records of an export in binary protobuf. Skips what is not read without building it: prompts and
 * answers are most of an export.
 * @throws Error where the bytes are not such an export
 */
export function readProtobuf(signal: RecordSignal, bytes: Uint8Array, isRead: IsRead): RawScope[] {
  return new RecordReader(bytes, recordFields[signal], isRead).request();
}

class RecordReader {
  readonly #reader: BinaryReader;
  readonly #bytes: Buffer;
  #type: WireType = WireType.Varint;

  constructor(
    bytes: Uint8Array,
    private readonly fields: Record<number, keyof RawRecord | undefined>,
    private readonly isRead: IsRead,
  ) {
    this.#reader = new BinaryReader(bytes);
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  request(): RawScope[] {
    const scopes: RawScope[] = [];
    const end = this.#reader.len;
    for (let field = this.#next(end); field > 0; field = this.#next(end)) {
      if (field === 1) this.#readResource(scopes);
      else this.#skip(field);
    }
    return scopes;
  }

  #readResource(scopes: RawScope[]): void {
    const resource: Attribute[] = [];
    const end = this.#begin();
    for (let field = this.#next(end); field > 0; field = this.#next(end)) {
      if (field === 1) this.#readAttributes(resource);
      else if (field === 2) scopes.push(this.#scope(resource));
      else this.#skip(field);
    }
  }

  #readAttributes(into: Attribute[]): void {
    const end = this.#begin();
    for (let field = this.#next(end); field > 0; field = this.#next(end)) {
      if (field === 1) this.#readAttribute(into);
      else this.#skip(field);
    }
  }

  #scope(resource: Attribute[]): RawScope {
    const read: RawScope = { resource, scope: "", records: [] };
    const end = this.#begin();
    for (let field = this.#next(end); field > 0; field = this.#next(end)) {
      if (field === 1) read.scope = this.#scopeName();
      else if (field === 2) read.records.push(this.#record());
      else this.#skip(field);
    }
    return read;
  }

  #scopeName(): string {
    let name = "";
    const end = this.#begin();
    for (let field = this.#next(end); field > 0; field = this.#next(end)) {
      if (field === 1) name = this.#text("utf8");
      else this.#skip(field);
    }
    return name;
  }

  #record(): RawRecord {
    const record: RawRecord = {
      name: "",
      trace: "",
      span: "",
      parent: "",
      timeNs: 0n,
      otherTimeNs: 0n,
      attributes: [],
    };
    const end = this.#begin();
    for (let field = this.#next(end); field > 0; field = this.#next(end)) {
      const name = this.fields[field];
      if (name === undefined) this.#skip(field);
      else if (name === "attributes") this.#readAttribute(record.attributes);
      else if (name === "timeNs" || name === "otherTimeNs") record[name] = this.#fixed64();
      else record[name] = this.#text(name === "name" ? "utf8" : "hex");
    }
    return record;
  }

  #readAttribute(into: Attribute[]): void {
    let key = "";
    let value: Scalar | undefined;
    const end = this.#begin();
    for (let field = this.#next(end); field > 0; field = this.#next(end)) {
      if (field === 1) key = this.#text("utf8");
      // A value before its key is allowed, though no encoder writes it.
      else if (field === 2 && (key === "" || this.isRead(key))) value = this.#value();
      else this.#skip(field);
    }
    if (value !== undefined && this.isRead(key)) into.push([key, value]);
  }

  /** The last value that is set, as in every `oneof`; undefined for lists and bytes. */
  #value(): Scalar | undefined {
    let value: Scalar | undefined;
    const end = this.#begin();
    for (let field = this.#next(end); field > 0; field = this.#next(end)) {
      if (field === 1) value = this.#text("utf8");
      else if (field === 2) value = this.#expect(WireType.Varint).bool();
      else if (field === 3) value = BigInt(this.#expect(WireType.Varint).int64());
      else if (field === 4) value = this.#expect(WireType.Bit64).double();
      else {
        this.#skip(field);
        if (field <= 7) value = undefined;
      }
    }
    return value;
  }

  /** Reads a tag. @returns the number of the field, or 0 at the end of its message */
  #next(end: number): number {
    const reader = this.#reader;
    if (reader.pos === end) return 0;
    if (reader.pos > end) throw new RangeError("A field is longer than its message.");
    const [field, type] = reader.tag();
    this.#type = type;
    return field;
  }

  #expect(type: WireType): BinaryReader {
    if (this.#type !== type) throw new Error("A field has another type.");
    return this.#reader;
  }

  /** Begins a message. @returns where it ends */
  #begin(): number {
    const length = this.#expect(WireType.LengthDelimited).uint32();
    const end = this.#reader.pos + length;
    if (end > this.#reader.len) throw new RangeError("A message is cut.");
    return end;
  }

  #text(encoding: "utf8" | "hex"): string {
    const end = this.#begin();
    const text = this.#bytes.toString(encoding, this.#reader.pos, end);
    this.#reader.pos = end;
    return text;
  }

  #fixed64(): bigint {
    return BigInt(this.#expect(WireType.Bit64).fixed64());
  }

  #skip(field: number): void {
    if (this.#type === WireType.LengthDelimited) this.#reader.pos = this.#begin();
    else this.#reader.skip(this.#type, field);
  }
}
