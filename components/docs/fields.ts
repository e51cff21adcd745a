import type { JsonSchema, OpenApiDocument } from "@/lib/contract/openapi";

/** A field, as the reference shows it. */
export type DocsField = {
  name: string;
  type: string;
  required: boolean;
  description?: string | undefined;
  default?: string | undefined;
  /** As text: "at most 255 characters". */
  limits: string[];
  /** The allowed values of an enumeration. */
  values: string[];
  fields: DocsField[];
  variants: Variant[];
  /** A link to where this schema is described. The field then has no `fields` here. */
  see?: { label: string; href: string } | undefined;
};

/** One of the alternatives of a value, named after the field that tells them apart: `type: "usage"`. */
export type Variant = { name: string; description?: string | undefined; fields: DocsField[] };

/** The schemas of the document, and those that are described elsewhere, by their names. */
export type Context = {
  schemas: OpenApiDocument["components"]["schemas"];
  shown: ReadonlyMap<string, { label: string; href: string }>;
};

/** The fields of an object schema. */
export function toFields(schema: JsonSchema, context: Context): DocsField[] {
  const { properties = {}, required = [] } = resolve(schema, context);
  return Object.entries(properties).map(([name, field]) =>
    toField(name, field, required.includes(name), context),
  );
}

/** One field with its nested fields or alternatives. */
export function toField(name: string, given: JsonSchema, required: boolean, context: Context): DocsField {
  const { schema, nullable } = withoutNull(given, context);
  const item = schema.items ? withoutNull(schema.items, context).schema : undefined;
  const inner = item ?? schema;
  const reference = item ? schema.items?.$ref : given.$ref;
  const see = reference ? context.shown.get(idOf(reference)) : undefined;
  const variants = see ? [] : toVariants(inner, context);
  const members = typeof inner.additionalProperties === "object" ? inner.additionalProperties : undefined;
  return {
    name,
    type: formatType(schema, context) + (nullable ? " or null" : ""),
    required,
    description: given.description ?? schema.description ?? inner.description,
    default: schema.default === undefined ? undefined : String(schema.default),
    limits: formatLimits(schema),
    // The type of a constant is its value.
    values: schema.const === undefined ? (schema.enum ?? []).map(String) : [],
    fields: see || variants.length > 0 ? [] : toFields(inner.properties ? inner : (members ?? {}), context),
    variants,
    see,
  };
}

/** The alternatives of a schema, if it consists of objects to choose from. */
export function toVariants(given: JsonSchema, context: Context): Variant[] {
  const schema = resolve(given, context);
  const options = schema.oneOf ?? schema.anyOf ?? [];
  const shapes = options.map((option) => resolve(option, context));
  if (shapes.length < 2 || !shapes.every(({ properties }) => properties)) return [];
  const key = schema.discriminator?.propertyName;
  return shapes.map((shape) => ({
    name: formatVariantName(shape, key),
    description: shape.description,
    // The field that tells the alternatives apart is in their names.
    fields: toFields(shape, context).filter(({ name }) => name !== key),
  }));
}

/** The name of an alternative: the required field that has a constant value, with that value. */
function formatVariantName({ properties = {}, required = [] }: JsonSchema, key: string | undefined): string {
  const name = key ?? required.find((one) => properties[one]?.const !== undefined);
  const value = name && properties[name]?.const;
  return value === undefined ? "otherwise" : `${name}: ${JSON.stringify(value)}`;
}

/** A schema without its null alternative, and whether it had one. */
function withoutNull(given: JsonSchema, context: Context): { schema: JsonSchema; nullable: boolean } {
  const schema = resolve(given, context);
  const options = schema.anyOf?.filter(({ type }) => type !== "null");
  if (!options || options.length === schema.anyOf?.length) return { schema, nullable: false };
  const { anyOf: _, ...rest } = schema;
  const [only] = options;
  const inner = options.length === 1 && only ? resolve(only, context) : { anyOf: options };
  return { schema: { ...inner, ...rest }, nullable: true };
}

function formatType(schema: JsonSchema, context: Context): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.items) {
    const item = resolve(schema.items, context);
    return item.type === "string" || item.type === "number" ? `array of ${item.type}s` : "array of objects";
  }
  const options = schema.oneOf ?? schema.anyOf;
  if (options) {
    const names = [...new Set(options.map((option) => formatType(resolve(option, context), context)))];
    return names.length === 1 ? (names[0] ?? "object") : names.join(" or ");
  }
  if (schema.type === "object" && typeof schema.additionalProperties === "object") return "map";
  const formats: Record<string, string> = { uuid: "UUID", "date-time": "date-time", date: "date" };
  return formats[schema.format ?? ""] ?? [schema.type ?? "object"].flat().join(" or ");
}

function formatLimits(schema: JsonSchema): string[] {
  const { minLength, maxLength, minItems, maxItems, exclusiveMinimum: above, minimum, maximum } = schema;
  const count = (value: number) => value.toLocaleString("en-US");
  const range = (low: number | undefined, high: number | undefined, what: string) => {
    if (high === undefined) return low ? [`at least ${count(low)} ${what}`] : [];
    return [low ? `${count(low)} to ${count(high)} ${what}` : `at most ${count(high)} ${what}`];
  };
  return [
    ...range(minLength, maxLength, "characters"),
    ...range(minItems, maxItems, "items"),
    ...(above === undefined ? [] : [`greater than ${count(above)}`]),
    ...(minimum === undefined ? [] : [`${count(minimum)} or more`]),
    ...(maximum === undefined ? [] : [`at most ${count(maximum)}`]),
    ...(schema.pattern ? [`matches \`${schema.pattern}\``] : []),
  ];
}

/** The name of a schema that a `$ref` points to. */
export const idOf = (reference: string) => reference.slice(reference.lastIndexOf("/") + 1);

function resolve(schema: JsonSchema, { schemas }: Context): JsonSchema {
  if (!schema.$ref) return schema;
  const { $ref, ...rest } = schema;
  return { ...schemas[idOf($ref)], ...rest };
}
