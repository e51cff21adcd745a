import type { z } from "zod";
import { withoutNulls } from "./absent";

/** One thing wrong with a value: where, as a dotted path, and what to do about it. */
type Problem = { path: string; message: string };

/**
 * Reads a value by its schema. Null for a field that may be left out is the same as leaving it out, unless the schema has
 * a meaning for null.
 * @param place where the value stands in the request, put before each path (`query`); empty for a body
 * @returns the value, or everything that is wrong with it
 */
export function parsePart<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  place = "",
): { ok: true; value: z.output<Schema> } | { ok: false; issues: Problem[] } {
  const parsed = parse(schema, value);
  if (parsed.success) return { ok: true, value: parsed.data };
  return { ok: false, issues: parsed.error.issues.flatMap((issue) => problemsOf(issue, place)) };
}

/** Nulls are looked for in what was refused alone: most requests have none, and are read once. */
function parse<Schema extends z.ZodType>(schema: Schema, value: unknown) {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed;
  const stripped = withoutNulls(schema, value);
  return stripped === value ? parsed : schema.safeParse(stripped);
}

function problemsOf(issue: z.core.$ZodIssue, place: string): Problem[] {
  const path = [...(place ? [place] : []), ...issue.path.map(String)];
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      path: [...path, key].join("."),
      message: "is not a field here; check the spelling",
    }));
  }
  return [{ path: path.join(".") || "body", message: explain(issue) }];
}

/** What people call the types of JSON, and what code calls them. */
const nameOf: Record<string, string> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

function explain(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_type" && /received undefined/.test(issue.message)) return "is required";
  // Where a schema says it in its own words, those are kept.
  const name = nameOf[issue.code === "invalid_type" ? issue.expected : ""];
  if (name && issue.message.startsWith("Invalid input")) return `must be ${name}`;
  if (issue.code === "invalid_value") return `must be one of: ${issue.values.join(", ")}`;
  return issue.message;
}
