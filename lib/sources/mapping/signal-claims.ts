import { createHash } from "node:crypto";
import type { Around } from "@/lib/ledger/ingest/call";
import type { Emitter, Rule } from "@/lib/sources/emitters/emitter";
import type { Entry } from "@/lib/sources/otlp/entry";
import { firstText } from "./first-of";
import type { SourceRecord } from "./source-record";

/** Whether a rule's records report sums of calls. Spans and logs report each call. */
function reportsSums({ signal }: Pick<Rule, "signal">): boolean {
  return signal === "metrics";
}

/**
 * The units that a record belongs to: a session, a user within a service, or a service. An emitter may report the same calls twice, one
 * by one and as sums, without a common id. A sum has the narrowest unit that it names; a call has every unit that a sum about it could
 * name. Empty for emitters of which only calls or only sums are counted.
 */
export function claimsOf({ name, rules }: Emitter, { own, resource }: Entry, rule: Rule): string[] {
  if (rules.every((other) => reportsSums(other) === reportsSums(rule))) return [];
  const { session, user } = rule.attribution;
  const service = String(resource.get("service.name") ?? "");
  const ofUser = firstText(user, own, resource);
  const inSession = firstText(session, own, resource);
  const units = [
    ...(inSession === undefined ? [] : [JSON.stringify(["session", name, inSession])]),
    ...(ofUser === undefined ? [] : [JSON.stringify(["user", service, ofUser])]),
    JSON.stringify(["service", service]),
  ];
  return reportsSums(rule) ? units.slice(0, 1) : units;
}

const hourMs = 3_600_000;

/** How long after its last call a sum may be taken. The call may have ended in the hour before. */
const lateMs = 60_000;

/** The most hours that a sum is compared with. Of a longer time, the last hours count. */
const maxHours = 48;

/**
 * Sets the marks of the hours of each record's units: a call is `within` the hour in which it occurred, and a sum is a `sumOf` the hours
 * that its time touches. By these the ledger counts the calls of a unit, or its sums in hours without calls. Marks differ between keys.
 */
export function nameHours(records: readonly SourceRecord[], keyId: string): void {
  const marks = new Map<string, Around>();
  const markOf = (unit: string, hour: number): Around => {
    const name = `${hour} ${unit}`;
    const known = marks.get(name);
    if (known) return known;
    const digest = createHash("sha256").update(`${keyId} ${unit}`).digest("hex").slice(0, 32);
    const made = { mark: `otel:hour:${digest}:${hour}`, outer: undefined };
    marks.set(name, made);
    return made;
  };
  // Changes the keys in place, because copying them by a spread with other properties is slow in V8.
  for (const { claims, keys, series, occurredAt } of records) {
    if (claims.length === 0) continue;
    if (series) {
      const hours = hoursOf(Number(series.startNs) / 1e6, Number(series.timeNs) / 1e6);
      keys.sumOf = claims.flatMap((unit) => hours.map((hour) => markOf(unit, hour).mark));
      continue;
    }
    const hour = Math.floor((occurredAt === undefined ? Date.now() : Date.parse(occurredAt)) / hourMs);
    for (const unit of claims) keys.within.push(markOf(unit, hour));
  }
}

function hoursOf(fromMs: number, untilMs: number): number[] {
  const last = Math.floor(untilMs / hourMs);
  const first = Math.max(Math.floor((fromMs - lateMs) / hourMs), last - maxHours + 1);
  return Array.from({ length: Math.max(last - first + 1, 1) }, (_, index) => last - index);
}
