import type { Names } from "@/lib/sources/emitters/emitter";
import type { Attributes, Scalar } from "@/lib/sources/otlp/entry";

/** The first of these attributes that a record has, in the order of names; the record's own before its resource's. */
export function firstOf(names: Names | undefined, ...places: Attributes[]): Scalar | undefined {
  for (const name of names ?? []) {
    for (const place of places) {
      const value = place.get(name);
      if (value !== undefined && value !== "") return value;
    }
  }
  return undefined;
}

/** Text of at most so many characters, without half of a character at its end. */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  return text.slice(0, text.slice(0, maxLength).isWellFormed() ? maxLength : maxLength - 1);
}

/** The same as text that Postgres can hold, without space around it; undefined where there is none. */
export function firstText(names: Names | undefined, ...places: Attributes[]): string | undefined {
  const value = firstOf(names, ...places);
  if (value === undefined) return undefined;
  const text = String(value).toWellFormed().replaceAll("\u0000", "").trim();
  return text === "" ? undefined : text;
}
