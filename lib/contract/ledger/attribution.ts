import { z } from "zod";
import { text } from "@/lib/contract/values/fields";
import { maxTags } from "./limits";

/** The most characters of a user and of a session. */
export const maxNameLength = 255;

const maxTagValueLength = 128;

const controls = /[\p{Cc}\u2028\u2029]/u;
const tagNamePattern = /^[A-Za-z0-9][A-Za-z0-9_./-]{0,63}$/;

/** Patterns of keys, tokens and headers, anywhere in a text. */
const secrets: readonly RegExp[] = [
  /\b(?:bearer|basic)\s+[\w+/.=~-]{8,}/i,
  // Outlay's own keys and tokens.
  /\bsvc_[a-z]{2,5}_[0-9A-Za-z]{8,}/,
  // Keys of providers (OpenAI, Anthropic, Stripe, OpenRouter and others) have this form.
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

/** A line of text that does not look like a secret, because everybody who may read the message sees it. */
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

/** The id or name that all calls of one conversation or run share. */
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

/** The stored form of tags, which filters use, too: a sorted list of `name:value`; undefined if there are none. */
export function toTagList(named: Readonly<Record<string, string>> | undefined): string[] | undefined {
  if (named === undefined) return undefined;
  const list = Object.entries(named).map(([name, value]) => `${name}:${value}`);
  return list.length === 0 ? undefined : list.sort();
}

/** Converts stored tags to values by name. A name has no colon, so the first colon ends it. */
export function fromTagList(list: readonly string[] | null): Record<string, string> {
  return Object.fromEntries(
    (list ?? []).map((tag) => [tag.slice(0, tag.indexOf(":")), tag.slice(tag.indexOf(":") + 1)]),
  );
}

/** The most characters of a tag in a filter, `name:value`. */
export const maxTagLength = 64 + 1 + maxTagValueLength;
