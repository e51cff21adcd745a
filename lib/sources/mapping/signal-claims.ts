import type { ClaimKind } from "@/lib/ledger/telemetry/tellings";
import type { Emitter, Rule } from "@/lib/sources/emitters/emitter";
import type { Entry } from "@/lib/sources/otlp/entry";
import { firstText } from "./first-of";

/** How a rule's records report calls: spans and logs each one, metrics their sums. */
export function tellingOf({ signal }: Pick<Rule, "signal">): ClaimKind {
  return signal === "metrics" ? "sums" : "calls";
}

/**
 * The units that a record reports about: a session, a user within a service, or a service. An emitter may report the same
 * calls twice, one by one and as sums, without an id that would show it. Of each unit, only the kind of report that arrives
 * first is counted. Sums claim the narrowest unit that they name; calls claim every unit that sums about them could name.
 * Empty for emitters of which only one kind of report is counted.
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
