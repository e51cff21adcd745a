import type { SourceOutcome } from "@/lib/contract/sources/sources";
import { isUsageName } from "@/lib/sources/emitters/allow-list";
import { unknownEmitter } from "@/lib/sources/emitters/conventions";
import type { Emitter, Rule } from "@/lib/sources/emitters/emitter";
import type { Entry } from "@/lib/sources/otlp/entry";
import { firstText } from "./first-of";
import { findRemedy, hasOneOf } from "./recognise";
import { readCount } from "./tokens";

/** Why a record counts nothing. */
type LeftOut = { outcome: SourceOutcome; by?: "contains_calls" | "other_signal" };

/**
 * Why a record that no rule counts is left out; undefined where it tells no usage and is no call of a model.
 * @param rule the rule that fits it, where it has no count above 0
 */
export function whyLeftOut(emitter: Emitter, rule: Rule | undefined, entry: Entry): LeftOut | undefined {
  if (rule) return entry.point ? whyUncounted(rule, entry) : { outcome: "without_counts" };
  const rules = emitter.rules.filter(
    ({ signal, names }) => signal === entry.signal && (!names || names.includes(entry.name)),
  );
  const isSum = rules.some(
    ({ where, except }) =>
      hasOneOf(entry.own, except) || Object.entries(where ?? {}).some(([name]) => entry.own.has(name)),
  );
  if (!tellsUsage(entry)) return !isSum && isCall(rules, entry) ? { outcome: "without_counts" } : undefined;
  if (isSum) return { outcome: "repeats", by: "contains_calls" };
  const isOfRow = emitter !== unknownEmitter || (entry.point && entry.name.startsWith("gen_ai."));
  if (findRemedy(emitter, entry) || (isOfRow && rules.length === 0))
    return { outcome: "repeats", by: "other_signal" };
  return { outcome: "not_understood" };
}

/** Kinds of a metric's points that other points of it include. */
const included = /total|cache|reason|thought/i;

/** Why a point of a metric that is counted is left out: of the others, it tells a sum or a part, or a kind that nobody knows. */
function whyUncounted({ kind }: Rule, entry: Entry): LeftOut | undefined {
  // A point of 0 tells that nothing was used.
  if (!tellsUsage(entry)) return undefined;
  const told = typeof kind === "object" ? String(entry.own.get(kind.attribute)) : "";
  return included.test(told) ? { outcome: "repeats", by: "other_signal" } : { outcome: "not_understood" };
}

function tellsUsage({ point, name, own }: Entry): boolean {
  if (point) return /token|cost/i.test(name) && readCount(point.value) !== undefined;
  for (const [attribute, value] of own)
    if (isUsageName(attribute) && readCount(value) !== undefined) return true;
  return false;
}

/** Whether a span or an event without counts names a model and who offers it, as calls do. */
function isCall(rules: readonly Rule[], { point, own, resource }: Entry): boolean {
  if (point) return false;
  return rules.some(
    ({ model, provider, names }) =>
      firstText(model, own) !== undefined &&
      (names !== undefined ||
        (typeof provider !== "string" && firstText(provider, own, resource) !== undefined)),
  );
}
