import { z } from "zod";
import { text } from "@/lib/contract/values/fields";
import { maxTags } from "./limits";

/** The most characters of a user and of a session. */
export const maxNameLength = 255;

const maxTagValueLength = 128;

const controls = /[\p{Cc}\u2028\u2029]/u;
const tagNamePattern = /^[A-Za-z0-9][A-Za-z0-9_./-]{0,63}$/;

/** Keys, tokens and headers by their form, wherever they stand in a text. */
const secrets: readonly RegExp[] = [
  /\b(?:bearer|basic)\s+[\w+/.=~-]{8,}/i,
  // Outlay's own keys and tokens.
  /\bsvc_[a-z]{2,5}_[0-9A-Za-z]{8,}/,
  // Keys of providers (OpenAI, Anthropic, Stripe, OpenRouter and others) begin so.
  /\b(?:sk|rk|pk)[-_][\w-]{16,}/,
  /\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|whsec_|hf_|npm_|pypi-)[\w-]{10,}/,
  /\bAKIA[0-9A-Z]{16}\b/,
  /\bAIza[\w-]{20,}/,
  /\beyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]*/,
];

/** Whether a text looks like an API key, a token or the value of an `Authorization` header. */
export function looksLikeSecret(value: string): boolean {
  return secrets.some((secret) => secret.test(value));
}

/** Text of one line that is no secret: it is shown to everybody who may read the message. */
function plainName(max: number, description: string) {
  return text(max, description)
    .refine((value) => !controls.test(value), "must be one line without control characters")
    .refine(
      (value) => !looksLikeSecret(value),
      "looks like a key or token; send a name, an address or an id of your own, and replace the secret",
    );
}

/** The person whom usage was for: an address, a name or a pseudonym. Not an account of Outlay. */
export const user = plainName(
  maxNameLength,
  "The person the usage was for: an e-mail address, an id or a pseudonym of your own. Never a secret; everybody who may read the message sees it.",
);

/** What the calls of one conversation or run have in common. */
export const session = plainName(
  maxNameLength,
  "The conversation or run that the usage was part of, by an id of your own.",
);

export const tagName = z
  .string()
  .regex(
    tagNamePattern,
    "must be a name of 1 to 64 letters, digits, dots, dashes, slashes or underscores, beginning with a letter or digit",
  );

export const tagValue = plainName(maxTagValueLength, "The value of a tag.");

/** Tags of a message, by name. */
export const tags = z
  .record(tagName, tagValue)
  .refine((value) => Object.keys(value).length <= maxTags, `must have at most ${maxTags} tags`)
  .meta({ jsonSchema: { maxProperties: maxTags } })
  .optional()
  .meta({
    description:
      'What the cost belongs to, by names of your own: `{ "team": "growth", "cost_center": "4711" }`. At most 10. Reads filter and sum by `name:value`.',
  });

/** Tags as they are stored and filtered by: each `name:value`, in one order; undefined for none. */
export function toTagList(named: Readonly<Record<string, string>> | undefined): string[] | undefined {
  if (named === undefined) return undefined;
  const list = Object.entries(named).map(([name, value]) => `${name}:${value}`);
  return list.length === 0 ? undefined : list.sort();
}

/** Stored tags by name. A name has no colon, so the first one ends it. */
export function fromTagList(list: readonly string[] | null): Record<string, string> {
  return Object.fromEntries(
    (list ?? []).map((tag) => [tag.slice(0, tag.indexOf(":")), tag.slice(tag.indexOf(":") + 1)]),
  );
}

/** The most characters of a tag as it is filtered by: `name:value`. */
export const maxTagLength = 64 + 1 + maxTagValueLength;
