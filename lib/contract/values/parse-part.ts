import type { z } from "zod";
import { withoutNulls } from "./absent";

/** One problem of a value: its dotted path, and what to do about it. */
type Problem = { path: string; message: string };

/**
 * Parses a value by its schema. Null in an optional field counts as absent, unless the schema has a meaning for null.
 * @param place where the value is in the request, put before each path (`query`); empty for a body
 * @returns the value, or all its problems
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

/** Parses a value, and again without its nulls if it is refused. Most requests have none and are parsed once. */
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
  return [{ path: path.join(".") || "body", message: explainIssue(issue) }];
}

/** The names of JSON's types for people, by zod's names. */
const nameOf: Record<string, string> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

/** Explains what is wrong with a value, as a clause that follows the field's name: "must be one of: day, week". */
export function explainIssue(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_type" && /received undefined/.test(issue.message)) return "is required";
  // A schema's own message is kept.
  const name = nameOf[issue.code === "invalid_type" ? issue.expected : ""];
  if (name && issue.message.startsWith("Invalid input")) return `must be ${name}`;
  if (issue.code === "invalid_value") return `must be one of: ${issue.values.join(", ")}`;
  return issue.message;
}
