import type { Emitter, Rule } from "@/lib/sources/emitters/emitter";
import type { Entry } from "@/lib/sources/otlp/entry";
import { firstText } from "./first-of";

/** How calls are told: one by one (spans and logs), or as sums (metrics). */
export type Telling = "calls" | "sums";

/** How a rule's records tell. */
export function tellingOf({ signal }: Pick<Rule, "signal">): Telling {
  return signal === "metrics" ? "sums" : "calls";
}

/**
 * What a record is one telling of: a session, what one user does in a service, or a service. An emitter may tell the same calls one
 * by one and as sums, and nothing in the two joins them. The telling that comes first takes the unit, and the other is
 * then not counted. Sums belong to the narrowest unit that they name; calls take each that sums of theirs could name.
 * Empty where the emitter's row counts one telling alone.
 */
export function claimsOf({ name, rules }: Emitter, { own, resource }: Entry, rule: Rule): string[] {
  const telling = tellingOf(rule);
  if (rules.every((other) => tellingOf(other) === telling)) return [];
  const { session, user } = rule.attribution;
  const service = String(resource.get("service.name") ?? "");
  const ofUser = firstText(user, own, resource);
  const inSession = firstText(session, own, resource);
  const units = [
    ...(inSession === undefined ? [] : [JSON.stringify(["session", name, inSession])]),
    ...(ofUser === undefined ? [] : [JSON.stringify(["user", service, ofUser])]),
    JSON.stringify(["service", service]),
  ];
  return telling === "sums" ? units.slice(0, 1) : units;
}
