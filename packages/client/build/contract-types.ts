import type { z } from "zod";
import { bulkResult, ingestResult } from "@/lib/contract/ledger/ingest-result";
import { ingestRequest } from "@/lib/contract/ledger/message";
import { reservation } from "@/lib/contract/ledger/reservations";
import type { JsonSchema } from "@/lib/contract/openapi";
import { statusOf } from "@/lib/errors";
import { idOf, toJsonSchema } from "@/lib/http/openapi-schemas";

/** What the client sends and receives. Schemas inside them that have an id become types of their own. */
const roots: [schema: z.ZodType, use: "input" | "output"][] = [
  [ingestRequest, "input"],
  [ingestResult, "output"],
  [bulkResult, "output"],
  [reservation, "output"],
];

/** Names of the contract that would mislead in the client: there the message is what the contract calls `message`. */
const clientNames: Record<string, string> = { CostMessage: "CostRequest" };

/**
 * Types with members that exclude each other, which JSON Schema has as optional ones: the members of each alternative, with
 * those that it needs first.
 */
const alternatives: Record<string, { needed: string[]; optional: string[] }[]> = {
  UsageMessage: [
    { needed: ["unit_type", "quantity"], optional: ["cached_quantity", "estimated_cost"] },
    { needed: ["lines"], optional: [] },
  ],
};

/**
 * The text of `src/contract.generated.ts`: TypeScript types of the contract that need no package. Descriptions become
 * doc comments.
 */
export function contractTypes(): string {
  const types = new Map<string, JsonSchema>();
  for (const [schema, use] of roots) {
    const { $schema: _, $defs = {}, ...root } = toJsonSchema(schema, use);
    for (const [id, definition] of Object.entries($defs)) types.set(nameOf(id), definition);
    if (!root.$ref) throw new Error("A root of the client's types needs an id in its meta.");
  }
  const declarations = [...types]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([name, schema]) =>
        `${comment(schema.description, "")}export type ${name} = ${printType(name, schema)};`,
    );
  const codes = Object.keys(statusOf).map((code) => `\n  | ${JSON.stringify(code)}`);
  return [
    "// Made from lib/contract by `npm run build:client`; not to be edited.",
    ...declarations,
    `/** The code of an error that the API answers. */\nexport type ApiErrorCode =${codes.join("")};`,
    "",
  ].join("\n\n");
}

const nameOf = (id: string) => clientNames[id] ?? id;

function comment(text: string | undefined, indent: string): string {
  return text ? `${indent}/** ${text.replaceAll("*/", "* /")} */\n` : "";
}

/** A type of the contract: what all alternatives have, and one of them. */
function printType(name: string, schema: JsonSchema): string {
  const { properties = {}, required = [] } = schema;
  const choices = alternatives[name];
  if (!choices) return print(schema, "");
  const own = choices.flatMap(({ needed, optional }) => [...needed, ...optional]);
  const pick = (names: string[]) => names.map((member) => [member, properties[member] ?? {}]);
  const shared = Object.keys(properties).filter((member) => !own.includes(member));
  const options = choices.map(({ needed, optional }) => {
    const present = { required: needed, properties: Object.fromEntries(pick([...needed, ...optional])) };
    const absent = own.filter((member) => !needed.includes(member) && !optional.includes(member));
    const never = absent.map((member) => `\n    ${member}?: undefined;`).join("");
    return `${printObject(present, "  ").slice(0, -"\n  }".length)}${never}\n  }`;
  });
  const common = printObject({ required, properties: Object.fromEntries(pick(shared)) }, "");
  return `${common} & (${options.map((option) => `\n  | ${option}`).join("")}\n)`;
}

/** The TypeScript type of a schema. @throws Error for a construct that the contract has not used so far */
function print(schema: JsonSchema, indent: string): string {
  const { $ref, type, properties, items, additionalProperties, enum: values } = schema;
  const options = schema.oneOf ?? schema.anyOf;
  if ($ref) return nameOf(idOf(schema));
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (values) return values.map((value) => JSON.stringify(value)).join(" | ");
  if (options) return options.map((option) => print(option, indent)).join(" | ");
  if (properties) return printObject(schema, indent);
  if (type === "object" && typeof additionalProperties === "object")
    return `Record<string, ${print(additionalProperties, indent)}>`;
  if (type === "array" && items) return `Array<${print(items, indent)}>`;
  if (type === "integer" || type === "number") return "number";
  if (type === "string" || type === "boolean" || type === "null") return type;
  throw new Error(`contract-types cannot print ${JSON.stringify(schema)}.`);
}

/** Optional members also take `undefined`, which JSON leaves out. */
function printObject({ properties = {}, required = [] }: JsonSchema, indent: string): string {
  const inner = `${indent}  `;
  const members = Object.entries(properties).map(([name, member]) => {
    const isRequired = required.includes(name);
    const text = `${name}${isRequired ? "" : "?"}: ${print(member, inner)}${isRequired ? "" : " | undefined"};`;
    return `${comment(member.description, inner)}${inner}${text}`;
  });
  return `{\n${members.join("\n")}\n${indent}}`;
}
