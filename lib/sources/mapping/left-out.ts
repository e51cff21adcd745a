import type { SourceOutcome } from "@/lib/contract/sources/sources";
import { isUsageMetric, isUsageName } from "@/lib/sources/emitters/allow-list";
import { unknownEmitter } from "@/lib/sources/emitters/conventions";
import type { Emitter, Rule } from "@/lib/sources/emitters/emitter";
import type { Entry } from "@/lib/sources/otlp/entry";
import { firstText } from "./first-of";
import { findRemedy, hasOneOf } from "./recognise";
import { readCount } from "./tokens";

/** Why a record is not counted. */
type LeftOut = { outcome: SourceOutcome; by?: "contains_calls" | "other_signal" };

/**
 * Why a record is not counted; undefined if it reports no usage and is not a call of a model.
 * @param rule the rule that fits the record, if it has no count above 0
 */
export function leftOutReason(emitter: Emitter, rule: Rule | undefined, entry: Entry): LeftOut | undefined {
  if (rule) return entry.point ? whyUncounted(rule, entry) : { outcome: "without_counts" };
  const rules = emitter.rules.filter(
    ({ signal, names }) => signal === entry.signal && (!names || names.includes(entry.name)),
  );
  const isSum = rules.some(
    ({ where, except }) =>
      hasOneOf(entry.own, except) || Object.entries(where ?? {}).some(([name]) => entry.own.has(name)),
  );
  if (!reportsUsage(entry)) return !isSum && isCall(rules, entry) ? { outcome: "without_counts" } : undefined;
  if (isSum) return { outcome: "repeats", by: "contains_calls" };
  const isOfRow = emitter !== unknownEmitter || (entry.point && entry.name.startsWith("gen_ai."));
  if (findRemedy(emitter, entry) || (isOfRow && rules.length === 0))
    return { outcome: "repeats", by: "other_signal" };
  return { outcome: "not_understood" };
}

/** Kinds of points that other points of the same metric include or are part of. */
const included = /total|cache|reason|thought/i;

/** Why a point of a counted metric is not counted: it is a sum or a part of other points, or of an unknown kind. */
function whyUncounted({ kind }: Rule, entry: Entry): LeftOut | undefined {
  // A point of 0 reports no usage.
  if (!reportsUsage(entry)) return undefined;
  const reported = typeof kind === "object" ? String(entry.own.get(kind.attribute)) : "";
  return included.test(reported) ? { outcome: "repeats", by: "other_signal" } : { outcome: "not_understood" };
}

function reportsUsage({ point, name, own }: Entry): boolean {
  if (point) return isUsageMetric(name) && readCount(point.value) !== undefined;
  for (const [attribute, value] of own)
    if (isUsageName(attribute) && readCount(value) !== undefined) return true;
  return false;
}

/** Whether a span or event without counts names a model and a provider, as calls do. */
function isCall(rules: readonly Rule[], { point, own, resource }: Entry): boolean {
  if (point) return false;
  return rules.some(
    ({ model, provider, names }) =>
      firstText(model, own) !== undefined &&
      (names !== undefined ||
        (typeof provider !== "string" && firstText(provider, own, resource) !== undefined)),
  );
}
