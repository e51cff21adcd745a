import { Buffer } from "node:buffer";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { maxTextLength } from "./records";

/** Reads fields of binary protobuf one by one, and skips unwanted fields without decoding them. */
export class WireReader {
  readonly #reader: BinaryReader;
  readonly #bytes: Buffer;
  #type: WireType = WireType.Varint;

  constructor(bytes: Uint8Array) {
    this.#reader = new BinaryReader(bytes);
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** The position at which the whole message ends. */
  protected get end(): number {
    return this.#reader.len;
  }

  /** Reads a tag. @returns the number of the field, or 0 at the end of its message */
  protected next(end: number): number {
    const reader = this.#reader;
    if (reader.pos === end) return 0;
    if (reader.pos > end) throw new RangeError("A field is longer than its message.");
    const [field, type] = reader.tag();
    this.#type = type;
    return field;
  }

  /** Starts to read a nested message. @returns the position at which it ends */
  protected begin(): number {
    const length = this.#expect(WireType.LengthDelimited).uint32();
    const end = this.#reader.pos + length;
    if (end > this.#reader.len) throw new RangeError("A message is cut.");
    return end;
  }

  /** Continues after a nested message, even if it was not read completely. */
  protected leave(end: number): void {
    this.#reader.pos = end;
  }

  protected text(encoding: "utf8" | "hex" = "utf8"): string {
    const end = this.begin();
    const text = this.#bytes.toString(encoding, this.#reader.pos, end);
    this.#reader.pos = end;
    return text;
  }

  /** Reads a name, cut to `maxTextLength`. */
  protected name(): string {
    return this.text().slice(0, maxTextLength);
  }

  protected fixed64(): bigint {
    return BigInt(this.#expect(WireType.Bit64).fixed64());
  }

  protected sfixed64(): bigint {
    return BigInt(this.#expect(WireType.Bit64).sfixed64());
  }

  protected double(): number {
    return this.#expect(WireType.Bit64).double();
  }

  protected bool(): boolean {
    return this.#expect(WireType.Varint).bool();
  }

  protected int64(): bigint {
    return BigInt(this.#expect(WireType.Varint).int64());
  }

  protected uint32(): number {
    return this.#expect(WireType.Varint).uint32();
  }

  protected skip(field: number): void {
    if (this.#type === WireType.LengthDelimited) this.#reader.pos = this.begin();
    else this.#reader.skip(this.#type, field);
  }

  #expect(type: WireType): BinaryReader {
    if (this.#type !== type) throw new Error("The field has an unexpected type.");
    return this.#reader;
  }
}
