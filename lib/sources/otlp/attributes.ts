import { allowList, isUsageName, jsonAttributes, namedMembers } from "@/lib/sources/emitters/allow-list";
import type { Attributes, Scalar } from "./entry";
import { type Attribute, maxTextLength } from "./records";

/** Longer JSON in an attribute is not read: usage is a few names and numbers. */
const maxJsonLength = 8_000;

/**
 * The attributes on the allow-list, and numbers that are some usage by their names. Text that holds JSON is read into its named
 * members and such numbers, as `name#member`.
 */
export function readAttributes(list: readonly Attribute[]): Attributes {
  const attributes = new Map<string, Scalar>();
  for (const [key, value] of list) {
    if (!allowList.has(key)) {
      if (isNumeric(value) && isUsageName(key)) attributes.set(key, value);
      continue;
    }
    if (jsonAttributes.has(key)) readMembers(key, value, attributes);
    else attributes.set(key, cut(value));
  }
  return attributes;
}

const noAttributes: Attributes = new Map();

/** Values of the offered attributes. Returns the same object whenever there are none. */
export function readOffered(list: readonly Attribute[], offered: ReadonlySet<string>): Attributes {
  let read: Map<string, Scalar> | undefined;
  for (const [key, value] of list) {
    if (!offered.has(key)) continue;
    read ??= new Map();
    read.set(key, cut(value));
  }
  return read ?? noAttributes;
}

/** Whether a value may be a count that no known emitter names so. Some write counts as text. */
function isNumeric(value: Scalar): boolean {
  return typeof value !== "string" || /^\d{1,20}(\.\d{1,20})?$/.test(value);
}

function cut(value: Scalar): Scalar {
  return typeof value === "string" && value.length > maxTextLength ? value.slice(0, maxTextLength) : value;
}

/** `{"input":200,"details":{"cached":5}}` → `name#input`, `name#details.cached`. */
function readMembers(name: string, text: Scalar, into: Map<string, Scalar>): void {
  if (typeof text !== "string" || text.length > maxJsonLength) return;
  const parsed = parse(text) ?? parse(fromPython(text));
  const walk = (value: unknown, path: string, depth: number) => {
    if (typeof value === "number" || typeof value === "string") {
      if (namedMembers.has(path)) into.set(path, cut(value));
      else if (typeof value === "number" && isUsageName(path)) into.set(path, value);
    }
    if (typeof value !== "object" || value === null || depth > 3) return;
    for (const [member, inner] of Object.entries(value))
      walk(inner, `${path}${depth === 0 ? "#" : "."}${member}`, depth + 1);
  };
  walk(parsed, name, 0);
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

const pythonWords: Record<string, string> = { None: "null", True: "true", False: "false" };

/** Converts a dictionary in Python's notation (`{'cached_tokens': 5, 'audio_tokens': None}`) to JSON. */
function fromPython(text: string): string {
  return text.replace(
    /'((?:[^'\\]|\\.)*)'|"(?:[^"\\]|\\.)*"|\b(?:None|True|False)\b/gs,
    (token, single: string | undefined) =>
      pythonWords[token] ?? JSON.stringify((single ?? token.slice(1, -1)).replace(/\\(.)/gs, "$1")),
  );
}
