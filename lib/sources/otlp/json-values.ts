import type { Scalar } from "./entry";
import { BadValue } from "./intake";
import { maxTextLength } from "./records";

/** An object of OTLP's JSON (OTLP 1.11, section JSON Protobuf Encoding). */
export type Json = { readonly [name: string]: unknown };

/** Whether a field is set. In protobuf's JSON, null is the same as a missing field. */
export function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** @throws BadValue, like all functions of this file that read values */
export function asObject(value: unknown): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new BadValue("must be an object");
  return value as Json;
}

const nothing: Json = {};

/** A member that is an object; an empty object where it is missing. @throws BadValue for another type */
export function objectIn(owner: Json, name: string): Json {
  return isSet(owner[name]) ? asObject(owner[name]) : nothing;
}

/** The entries of a list, which may be anything. */
export function listIn(owner: Json, name: string): readonly unknown[] {
  const list = owner[name];
  if (!isSet(list)) return [];
  if (!Array.isArray(list)) throw new BadValue(`${name} must be a list`);
  return list;
}

/** A member that is text; empty text where it is missing. @throws BadValue for another type */
export function textIn(owner: Json, name: string): string {
  const value = owner[name];
  if (!isSet(value)) return "";
  if (typeof value !== "string") throw new BadValue(`${name} must be text`);
  return value;
}

/** A name, cut to `maxTextLength`. */
export function nameIn(owner: Json, name: string): string {
  return textIn(owner, name).slice(0, maxTextLength);
}

/** An id in hex, in lower case; empty if it is not hex. Then the record is identified by other means. */
export function idIn(owner: Json, name: string): string {
  const id = owner[name];
  return typeof id === "string" && /^([0-9a-f]{2})*$/i.test(id) ? id.toLowerCase() : "";
}

/** A member that is an instant, in nanoseconds since 1970; 0 where it is missing. @throws BadValue */
export function nanosIn(owner: Json, name: string): bigint {
  const value = owner[name];
  if (!isSet(value)) return 0n;
  const nanos = asInteger(value, name);
  if (nanos < 0n) throw new BadValue(`${name} must not be before 1970`);
  return nanos;
}

/** Reads a 64-bit integer, which is text in protobuf's JSON. Numbers are accepted too. @param name of the value, for the error */
export function asInteger(value: unknown, name: string): bigint {
  if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value === "string" && /^-?\d{1,19}$/.test(value)) return BigInt(value);
  throw new BadValue(`${name} must be a whole number`);
}

/** A number, also one that is written as text, as the JSON encoding of protobuf allows. @throws BadValue */
export function asDouble(value: unknown, name: string): number {
  if (typeof value === "number") return value;
  const isNumber = typeof value === "string" && value.trim() === value && value !== "";
  const number = isNumber ? Number(value) : Number.NaN;
  if (!isNumber || (Number.isNaN(number) && value !== "NaN")) throw new BadValue(`${name} must be a number`);
  return number;
}

/** The value of an attribute; undefined for lists and bytes. @param key of the attribute, for errors */
export function scalarOf(
  { stringValue, boolValue, intValue, doubleValue }: Json,
  key: string,
): Scalar | undefined {
  if (isSet(stringValue)) {
    if (typeof stringValue !== "string") throw new BadValue(`the attribute ${key} must be text`);
    return stringValue;
  }
  if (isSet(intValue)) return asInteger(intValue, `the attribute ${key}`);
  if (isSet(doubleValue)) return asDouble(doubleValue, `the attribute ${key}`);
  if (!isSet(boolValue)) return undefined;
  if (typeof boolValue !== "boolean") throw new BadValue(`the attribute ${key} must be true or false`);
  return boolValue;
}
