import type { Names } from "@/lib/sources/emitters/emitter";
import type { Attributes, Scalar } from "@/lib/sources/otlp/entry";

/** The value of the first of these attributes that is set. Each name is looked up in all places, in order, before the next name. */
export function firstOf(names: Names | undefined, ...places: Attributes[]): Scalar | undefined {
  for (const name of names ?? []) {
    for (const place of places) {
      const value = place.get(name);
      if (value !== undefined && value !== "") return value;
    }
  }
  return undefined;
}

/** Cuts text to a length in UTF-16 code units, without splitting a surrogate pair. */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  return text.slice(0, text.slice(0, maxLength).isWellFormed() ? maxLength : maxLength - 1);
}

/** Like `firstOf`, as trimmed text that Postgres can store; undefined if it is empty. */
export function firstText(names: Names | undefined, ...places: Attributes[]): string | undefined {
  const value = firstOf(names, ...places);
  if (value === undefined) return undefined;
  const text = String(value).toWellFormed().replaceAll("\u0000", "").trim();
  return text === "" ? undefined : text;
}
