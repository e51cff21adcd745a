import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { JsonSchema } from "@/lib/contract/openapi";

const definitions = "#/$defs/";
const schemas = "#/components/schemas/";

/**
 * Turns zod schemas into JSON Schema for one document. Schemas with an `id` in their meta become components, so that a
 * schema which two routes share is in the document once.
 */
export class SchemaComponents {
  readonly schemas: Record<string, JsonSchema> = {};

  /**
   * @param use what a caller sends, as parameters (`input`) or as JSON (`body`), or receives (`output`)
   * @throws Error where two different schemas have the same id
   */
  add(schema: z.ZodType, use: Use): JsonSchema {
    const { $schema: _, $defs = {}, ...root } = toJsonSchema(schema, use);
    for (const [id, definition] of Object.entries($defs)) {
      this.#define(id, withReferences(definition));
    }
    for (const definition of Object.values(this.schemas)) this.#mapDiscriminators(definition);
    return withReferences(root);
  }

  /** The schema itself, when it is a reference to a component. */
  resolve(schema: JsonSchema): JsonSchema {
    return schema.$ref ? (this.schemas[schema.$ref.slice(schemas.length)] ?? schema) : schema;
  }

  #define(id: string, definition: JsonSchema): void {
    const earlier = this.schemas[id];
    if (earlier && !isDeepStrictEqual(withoutMapping(earlier), definition))
      throw new Error(`Two different schemas have the id ${id}; give one of them another.`);
    this.schemas[id] ??= definition;
  }

  /** A discriminator must say which value means which component. */
  #mapDiscriminators(schema: JsonSchema): void {
    for (const { discriminator, oneOf = [] } of nested(schema)) {
      if (!discriminator) continue;
      const pairs = oneOf.map((option): [string, string] => [
        String(this.resolve(option).properties?.[discriminator.propertyName]?.const),
        option.$ref ?? "",
      ]);
      if (pairs.every(([, reference]) => reference)) discriminator.mapping = Object.fromEntries(pairs);
    }
  }
}

/**
 * One schema as JSON Schema; the schemas with an `id` in it are in its `$defs`.
 * @param use what a caller sends, as parameters (`input`) or as JSON (`body`), or receives (`output`)
 */
export function toJsonSchema(
  schema: z.ZodType,
  use: Use,
): JsonSchema & { $schema?: string; $defs?: Record<string, JsonSchema> } {
  return z.toJSONSchema(schema, {
    target: "draft-2020-12",
    unrepresentable: "any",
    io: use === "output" ? "output" : "input",
    override: (context) =>
      amend(context.zodSchema as unknown as z.ZodType, context.jsonSchema as Described, use),
  }) as JsonSchema;
}

/** The id of the component that a schema refers to; empty where it refers to none. */
export const idOf = ({ $ref = "" }: JsonSchema) => $ref.slice($ref.lastIndexOf("/") + 1);

/** What a schema describes. */
type Use = "input" | "body" | "output";

type Described = JsonSchema & { jsonSchema?: JsonSchema; mediaType?: string };

/** What zod cannot know: how our custom types look in JSON, and which patterns only repeat a format. */
function amend(schema: z.ZodType, json: Described, use: Use): void {
  if (json.jsonSchema) {
    // The JSON form replaces the shapes that the code parses it by.
    if (json.jsonSchema.type) delete json.anyOf;
    Object.assign(json, json.jsonSchema);
    delete json.jsonSchema;
  }
  // For generators that do not know `const`: an enum of one value.
  if (json.const !== undefined && json.const !== null) json.enum ??= [json.const];
  // It is in the document as the key of the content, not in its schema.
  delete json.mediaType;
  // zod leaves out the examples of transformed input; ours always show what is sent.
  const { examples } = (z.globalRegistry.get(schema) ?? {}) as { examples?: unknown[] };
  if (examples) json.examples = examples;
  if (json.format) delete json.pattern;
  if (json.type === "integer") {
    // The bounds of doubles are not limits of ours.
    if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
    if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
  }
  // A response may gain members; a client that validates it must not fail then.
  if (use === "output" && json.additionalProperties === false) delete json.additionalProperties;
  if (use === "body") takeNull(json);
  const { type, discriminator } = schema._zod.def as { type: string; discriminator?: string };
  if (type === "union" && discriminator && json.oneOf) json.discriminator = { propertyName: discriminator };
}

/** Null in an optional field of a body counts as absent (`withoutNulls`). */
function takeNull(json: JsonSchema): void {
  const { properties = {}, required = [] } = json;
  for (const [name, field] of Object.entries(properties)) {
    const isNullable = field.anyOf?.some(({ type }) => type === "null");
    if (required.includes(name) || isNullable) continue;
    // The field's description stays beside the choice, where readers look for it.
    const { description, default: fallback, examples, ...rest } = field;
    properties[name] = {
      ...(description !== undefined && { description }),
      ...(fallback !== undefined && { default: fallback }),
      ...(examples !== undefined && { examples }),
      anyOf: [rest, { type: "null" }],
    };
  }
}

/** A copy whose references point into the document's components. */
function withReferences<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (name, member) =>
    name === "$ref" && typeof member === "string" && member.startsWith(definitions)
      ? schemas + member.slice(definitions.length)
      : member,
  );
}

function withoutMapping(schema: JsonSchema): JsonSchema {
  const copy = structuredClone(schema);
  for (const { discriminator } of nested(copy)) delete discriminator?.mapping;
  return copy;
}

/** A schema and all schemas inside it. */
function* nested(schema: JsonSchema): Generator<JsonSchema> {
  yield schema;
  const parts = [
    ...Object.values(schema.properties ?? {}),
    ...[schema.oneOf, schema.anyOf, schema.allOf].flatMap((options) => options ?? []),
    ...(schema.items ? [schema.items] : []),
    ...(typeof schema.additionalProperties === "object" ? [schema.additionalProperties] : []),
  ];
  for (const part of parts) yield* nested(part);
}
