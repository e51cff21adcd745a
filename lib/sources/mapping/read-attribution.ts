import type { z } from "zod";
import { session, tagValue, user } from "@/lib/contract/ledger/attribution";
import type { Attribution, Names } from "@/lib/sources/emitters/emitter";
import type { Attributes } from "@/lib/sources/otlp/entry";
import { firstText } from "./first-of";

/** The user, session and tags of a record. `leftOut`: the values that cannot be stored, each with the reason. */
export type ReadAttribution = {
  user: string | undefined;
  session: string | undefined;
  tags: Record<string, string>;
  leftOut: string[];
};

/**
 * Reads the user, the session and the tags of a record. Values that are too long or look like a secret are left out; they do not refuse
 * the call.
 */
export function readAttribution(
  attribution: Attribution,
  own: Attributes,
  resource: Attributes,
): ReadAttribution {
  const leftOut: string[] = [];
  const read = (what: string, names: Names, schema: z.ZodType<string>) => {
    const reported = firstText(names, own, resource);
    if (reported === undefined) return undefined;
    const { success, data, error } = schema.safeParse(reported);
    if (success) return data;
    leftOut.push(`the ${what}: ${error.issues[0]?.message}`);
    return undefined;
  };
  const tags = Object.entries(attribution.tags).flatMap(([name, names]) => {
    const value = read(`tag ${name}`, names, tagValue);
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    user: read("user", attribution.user, user),
    session: read("session", attribution.session, session),
    tags: Object.fromEntries(tags),
    leftOut,
  };
}
