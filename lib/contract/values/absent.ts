import { z } from "zod";

/**
 * Removes the nulls that mean "not given": those in optional fields for which null has no meaning of its own. Programs
 * and models write them for fields that they do not set. Other nulls stay: those that the schema accepts (such as in a field that
 * null clears), and those in lists, maps and required fields.
 * @returns a changed copy, or the value itself if there is nothing to remove
 */
export function withoutNulls(schema: z.ZodType, value: unknown): unknown {
  if (value === null) return isAbsent(schema, value) ? undefined : value;
  if (typeof value !== "object") return value;
  const inner = unwrap(schema, value);
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    const items = value.map((item) =>
      item === null ? item : withoutNulls(inner.element as z.ZodType, item),
    );
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (!(inner instanceof z.ZodObject) || Array.isArray(value)) return value;
  const fields: Record<string, z.ZodType | undefined> = inner.shape;
  const members = Object.entries(value).map(([name, member]) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    return [name, member, field ? withoutNulls(field, member) : member] as const;
  });
  if (members.every(([, member, read]) => member === read)) return value;
  return Object.fromEntries(members.flatMap(([name, , read]) => (read === undefined ? [] : [[name, read]])));
}

/** Whether null means the same as leaving the field out. */
export function isAbsent(field: z.ZodType, value: unknown): boolean {
  return value === null && field.safeParse(undefined).success && !field.safeParse(null).success;
}

/**
 * The schema inside optional, nullable, default and transformed ones; of a union of objects, the member that the value
 * names.
 */
function unwrap(schema: z.ZodType, value: object): z.ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return unwrap(schema.unwrap() as z.ZodType, value);
  if (schema instanceof z.ZodPipe) return unwrap(schema.in as z.ZodType, value);
  if (!(schema instanceof z.ZodDiscriminatedUnion)) return schema;
  const { discriminator, options } = schema.def;
  const named = (value as Record<string, unknown>)[discriminator];
  const option = options.find(
    (one) => one instanceof z.ZodObject && one.shape[discriminator]?.safeParse(named).success,
  );
  return option ? unwrap(option as z.ZodType, value) : schema;
}
