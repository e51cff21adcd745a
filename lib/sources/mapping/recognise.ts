import { unknownEmitter } from "@/lib/sources/emitters/conventions";
import type { Emitter, Names, Rule } from "@/lib/sources/emitters/emitter";
import { emitters } from "@/lib/sources/emitters/table";
import type { Attributes, Entry } from "@/lib/sources/otlp/entry";

const withAttributes = emitters.flatMap(({ attributes }, place) =>
  attributes ? [{ attributes, place }] : [],
);

/** The emitter of a record: the first row of the table that fits; `unknownEmitter` if none does. */
export function findEmitter({ resource, scope, own }: Entry): Emitter {
  const named = placeOf(String(resource.get("service.name") ?? ""), scope);
  const reported = withAttributes.find(({ attributes }) => attributes.some((name) => own.has(name)));
  return emitters[Math.min(named, reported?.place ?? named)] ?? unknownEmitter;
}

/** A cache of `placeOf`, because the records of an export share a few services and scopes. */
const places = new Map<string, number>();
const maxPlaces = 1_000;

/** The index of the first row that fits a service or a scope; the number of rows if none does. */
function placeOf(service: string, scope: string): number {
  const name = `${service}\n${scope}`;
  const known = places.get(name);
  if (known !== undefined) return known;
  if (places.size >= maxPlaces) places.clear();
  const found = emitters.findIndex(
    ({ services, scopes }) =>
      services?.some((pattern) => pattern.test(service)) || scopes?.some((pattern) => pattern.test(scope)),
  );
  const place = found < 0 ? emitters.length : found;
  places.set(name, place);
  return place;
}

/** The rule by which a record is counted; undefined if it is not counted. */
export function findRule({ rules }: Emitter, entry: Entry): Rule | undefined {
  return rules.find((rule) => fits(rule, entry));
}

/** Advice for the user of an emitter whose record only repeats counted records; undefined for other records. */
export function findRemedy({ repeats }: Emitter, { signal, name }: Entry): string | undefined {
  return repeats?.find((repeat) => repeat.signal === signal && repeat.names.includes(name))?.remedy;
}

function fits(rule: Rule, entry: Entry): boolean {
  const { signal, names, scopes, requires, where, except, tokens, kind, one } = rule;
  if (signal !== entry.signal || entry.point?.isLevel) return false;
  if (names && !names.includes(entry.name)) return false;
  if (scopes && !scopes.some((pattern) => pattern.test(entry.scope))) return false;
  if (requires?.some((name) => !entry.own.has(name))) return false;
  if (!Object.entries(where ?? {}).every(([name, values]) => has(entry.own, name, values))) return false;
  if (hasOneOf(entry.own, except)) return false;
  if (kind || one) return true;
  return Object.values(tokens ?? {}).some((of: Names) => of.some((name) => entry.own.has(name)));
}

/** Whether an attribute has one of the values that are listed for it. */
export function hasOneOf(own: Attributes, listed: Rule["except"]): boolean {
  return Object.entries(listed ?? {}).some(([name, values]) => has(own, name, values));
}

function has(own: Attributes, name: string, values: readonly string[]): boolean {
  const value = own.get(name);
  return value !== undefined && values.includes(String(value));
}
