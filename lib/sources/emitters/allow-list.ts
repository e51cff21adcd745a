import { unknownEmitter } from "./conventions";
import type { Emitter, Names, Rule } from "./emitter";
import { emitters } from "./table";

/**
 * The attributes that are read: those that the table names. Others may have prompts, answers or secrets, and are neither stored nor
 * logged.
 */
const named = new Set([...emitters, unknownEmitter].flatMap(namesOf));

/** The names of attributes that are read, without JSON members. */
export const allowList: ReadonlySet<string> = new Set(
  ["service.name", "event.name", ...named].map((name) => name.split("#", 1)[0] as string),
);

/** Members of attributes that hold JSON, as `name#member`. */
export const namedMembers: ReadonlySet<string> = new Set([...named].filter((name) => name.includes("#")));

/** The attributes whose text is JSON. */
export const jsonAttributes: ReadonlySet<string> = new Set(
  [...namedMembers].map((name) => name.split("#", 1)[0] as string),
);

/** Whether an attribute seems to be a count of tokens or a cost by its name, even if no rule knows it, so that it can be reported. */
export function isUsageName(name: string): boolean {
  const known = usageNames.get(name);
  if (known !== undefined) return known;
  if (usageNames.size >= maxNames) usageNames.clear();
  const isUsage = usage.test(name) && !limits.test(name);
  usageNames.set(name, isUsage);
  return isUsage;
}

/** The same of a metric of this name. */
export function isUsageMetric(name: string): boolean {
  return /token|cost/i.test(name);
}

const usage =
  /(^|[._-])(usage|tokens?)([._#-]|$)|[tT]okens?[._-]?[cC]ount|[a-z]Tokens$|(^|[._-])cost([._#-]|$)/;
const limits = /(^|[._-])(max|limit|budget|request)[._-]?|max[A-Z]|[Ss]ettings/;

/** A cache of the results, because exports repeat a few names. */
const usageNames = new Map<string, boolean>();
const maxNames = 10_000;

function namesOf({ attributes = [], rules }: Emitter): string[] {
  return [...attributes, ...rules.flatMap(namesInRule)];
}

/** Every name that a rule reads. */
export function namesInRule({
  where,
  except,
  provider,
  tokens,
  kind,
  cost,
  identity,
  attribution,
  ...rule
}: Rule) {
  const { tags, ...about } = attribution;
  const lists: (Names | undefined)[] = [
    typeof provider === "string" ? [] : provider,
    Object.keys({ ...where, ...except }),
    rule.model,
    rule.requires,
    rule.time,
    rule.tier,
    rule.furtherInput,
    typeof kind === "object" ? [kind.attribute] : [],
    ...[tokens, cost, identity, about, tags].flatMap((group): Names[] => Object.values(group ?? {})),
  ];
  return lists.flatMap((names) => names ?? []);
}
