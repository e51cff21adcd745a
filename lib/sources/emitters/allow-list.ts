import { unknownEmitter } from "./conventions";
import type { Emitter, Names, Rule } from "./emitter";
import { emitters } from "./table";

/**
 * The attributes that are read, which are those that the table names. Emitters put prompts, answers and secrets into
 * others; those are neither kept nor logged.
 */
const named = new Set([...emitters, unknownEmitter].flatMap(namesOf));

/** Names of attributes, without the members of those that hold JSON. */
export const allowList: ReadonlySet<string> = new Set(
  ["service.name", "event.name", ...named].map((name) => name.split("#", 1)[0] as string),
);

/** The attributes whose text is JSON with numbers. */
export const jsonAttributes: ReadonlySet<string> = new Set(
  [...named].filter((name) => name.includes("#")).map((name) => name.split("#", 1)[0] as string),
);

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
    rule.furtherInput,
    typeof kind === "object" ? [kind.attribute] : [],
    ...[tokens, cost, identity, about, tags].flatMap((group): Names[] => Object.values(group ?? {})),
  ];
  return lists.flatMap((names) => names ?? []);
}
