import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { JsonSchema } from "@/lib/contract/openapi";

const definitions = "#/$defs/";
const schemas = "#/components/schemas/";

/**
 * Converts zod schemas to JSON Schema for one document. Schemas with an `id` in their meta become components, so that the
 * document has a schema once even if several routes use it.
 */
export class SchemaComponents {
  readonly schemas: Record<string, JsonSchema> = {};

  /**
   * @param use `input`: parameters that a caller sends; `body`: JSON that a caller sends; `output`: a response
   * @throws Error if two different schemas have the same id
   */
  add(schema: z.ZodType, use: Use): JsonSchema {
    const { $schema: _, $defs = {}, ...root } = toJsonSchema(schema, use);
    for (const [id, definition] of Object.entries($defs)) {
      this.#define(id, withReferences(definition));
    }
    for (const definition of Object.values(this.schemas)) this.#mapDiscriminators(definition);
    return withReferences(root);
  }

  /** The component that a schema refers to, or the schema itself. */
  resolve(schema: JsonSchema): JsonSchema {
    return schema.$ref ? (this.schemas[schema.$ref.slice(schemas.length)] ?? schema) : schema;
  }

  #define(id: string, definition: JsonSchema): void {
    const earlier = this.schemas[id];
    if (earlier && !isDeepStrictEqual(withoutMapping(earlier), definition))
      throw new Error(`Two different schemas have the id ${id}; give one of them another.`);
    this.schemas[id] ??= definition;
  }

  /** Adds to each discriminator which value selects which component. */
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
 * Converts one schema to JSON Schema; the schemas with an `id` in it are in its `$defs`.
 * @param use `input`: parameters that a caller sends; `body`: JSON that a caller sends; `output`: a response
 */
export function toJsonSchema(
  schema: z.ZodType,
  use: Use,
): JsonSchema & { $schema?: string; $defs?: Record<string, JsonSchema> } {
  const json = z.toJSONSchema(schema, {
    target: "draft-2020-12",
    unrepresentable: "any",
    io: use === "output" ? "output" : "input",
    override: (context) =>
      amend(context.zodSchema as unknown as z.ZodType, context.jsonSchema as Described, use),
  }) as JsonSchema & { $defs?: Record<string, JsonSchema> };
  if (use === "body") {
    // Runs when zod has completed the whole schema, because fields that several objects share are filled in last.
    for (const part of [json, ...Object.values(json.$defs ?? {})])
      for (const each of nested(part)) takeNull(each);
  }
  return json;
}

/** The id of the component that a schema refers to; empty if it refers to none. */
export const idOf = ({ $ref = "" }: JsonSchema) => $ref.slice($ref.lastIndexOf("/") + 1);

/** What a schema describes: parameters, a body, or a response. */
type Use = "input" | "body" | "output";

type Described = JsonSchema & { jsonSchema?: JsonSchema; mediaType?: string };

/** Corrects what zod cannot know: the JSON form of our custom types, and patterns that only repeat a format. */
function amend(schema: z.ZodType, json: Described, use: Use): void {
  if (json.jsonSchema) {
    // The JSON form replaces the type that the code parses.
    if (json.jsonSchema.type) delete json.anyOf;
    Object.assign(json, json.jsonSchema);
    delete json.jsonSchema;
  }
  // Some generators do not know `const`, so it gets an enum of one value.
  if (json.const !== undefined && json.const !== null) json.enum ??= [json.const];
  // The media type is the key of the content in the document, not part of the schema.
  delete json.mediaType;
  // zod omits the examples of transformed input; ours are always in the form that is sent.
  const { examples } = (z.globalRegistry.get(schema) ?? {}) as { examples?: unknown[] };
  if (examples) json.examples = examples;
  if (json.format) delete json.pattern;
  if (json.type === "integer") {
    // zod adds the bounds of safe integers, which are not limits of the API.
    if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
    if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
  }
  // Responses may gain members in later versions; a client that validates them must not fail then.
  if (use === "output" && json.additionalProperties === false) delete json.additionalProperties;
  const { type, discriminator } = schema._zod.def as { type: string; discriminator?: string };
  if (type === "union" && discriminator && json.oneOf) json.discriminator = { propertyName: discriminator };
}

/** Null in an optional field of a body counts as absent (`withoutNulls`). */
function takeNull(json: JsonSchema): void {
  const { properties = {}, required = [] } = json;
  for (const [name, field] of Object.entries(properties)) {
    const isNullable = field.anyOf?.some(({ type }) => type === "null");
    if (required.includes(name) || isNullable) continue;
    // The description stays outside `anyOf`, where readers and generators look for it.
    const { description, default: fallback, examples, ...rest } = field;
    properties[name] = {
      ...(description !== undefined && { description }),
      ...(fallback !== undefined && { default: fallback }),
      ...(examples !== undefined && { examples }),
      anyOf: [rest, { type: "null" }],
    };
  }
}

/** A copy whose references point to the document's components. */
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
