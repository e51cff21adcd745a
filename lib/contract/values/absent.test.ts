import { describe, expect, test } from "vitest";
import { z } from "zod";
import { routes } from "@/app/routes.generated";
import { requestExamples } from "@/lib/contract/examples";
import { bulkRequest, costMessage, ingestRequest } from "@/lib/contract/ledger/message";
import { toolContracts } from "@/lib/contract/tools";
import { declaration, type Endpoint, methods } from "@/lib/http/define-route";
import { isAbsent } from "./absent";
import { parsePart } from "./parse-part";

const line = { unit_type: "requests", quantity: 1 };
const message = { type: "usage", provider: "openai", ...line };

/** The schemas of everything that callers send as JSON, with values that they accept. */
const bodies: [name: string, schema: z.ZodType, examples: Record<string, unknown>[]][] = [
  ...Object.entries(toolContracts).map(([name, { input }]): (typeof bodies)[number] => [
    `the tool ${name}`,
    input,
    [
      {
        log_usage: { project: "p", provider: "openai", ...line },
        add_expense: { project: "p", vendor: "v", amount: 1 },
        get_project_spend: { project: "p" },
      }[name as string] ?? {},
    ],
  ]),
];
for (const { load } of routes) {
  const module = await load();
  for (const method of methods) {
    const body = (module[method] as { [declaration]?: Endpoint } | undefined)?.[declaration]?.body;
    const id = body && z.globalRegistry.get(body)?.id;
    if (!body || !id || body === bulkRequest) continue;
    const examples = Object.values(requestExamples[id] ?? {}).map(
      ({ value }) => value as Record<string, unknown>,
    );
    bodies.push([id, body, examples]);
  }
}
bodies.push([
  "every type of message",
  ingestRequest,
  [
    message,
    { type: "batch", provider: "openai", batch_id: "b", items: [line] },
    { type: "expense", vendor: "v", amount: 1 },
    { type: "subscription", vendor: "v", amount: 1 },
    { type: "allocation", from_project: "q" },
  ].map((each) => ({ project: "p", source: "api", message: each })),
]);

/** Yields the variants of a value with null in the place of one optional field. */
function* nulled(
  schema: z.ZodType,
  value: unknown,
): Generator<{ path: string; field: z.ZodType; value: unknown }> {
  const inner = bare(schema, value);
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    for (const [index, item] of value.entries())
      for (const found of nulled(inner.element as z.ZodType, item))
        yield { ...found, path: `${index}.${found.path}`, value: value.with(index, found.value) };
  }
  if (!(inner instanceof z.ZodObject) || typeof value !== "object" || value === null) return;
  for (const [name, field] of Object.entries(inner.shape as Record<string, z.ZodType>)) {
    const members = value as Record<string, unknown>;
    if (members[name] === undefined && field.safeParse(undefined).success)
      yield { path: name, field, value: { ...members, [name]: null } };
    for (const found of nulled(field, members[name]))
      yield { ...found, path: `${name}.${found.path}`, value: { ...members, [name]: found.value } };
  }
}

function bare(schema: z.ZodType, value: unknown): z.ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return bare(schema.unwrap() as z.ZodType, value);
  if (schema === costMessage)
    return costMessage.options.find(
      (option) => option.shape.type.value === (value as { type: string }).type,
    ) as z.ZodType;
  return schema;
}

describe.each(bodies)("null for optional fields of %s", (_, schema, examples) => {
  test("Means the same as leaving the field out, unless null has a meaning there", () => {
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) {
      const without = parsePart(schema, example);
      for (const { path, field, value } of nulled(schema, example)) {
        const read = parsePart(schema, value);
        if (field.safeParse(null).success) expect(read.ok, path).toBe(true);
        else expect(read, path).toEqual(without);
      }
    }
  });
});

test("Stays null where the field is required", () => {
  const issuesOf = (value: unknown) => {
    const read = parsePart(ingestRequest, value);
    return read.ok ? [] : read.issues.map(({ path }) => path);
  };
  const post = { project: "p", source: "api", message };
  expect(issuesOf({ ...post, project: null })).toEqual(["project"]);
  expect(issuesOf({ ...post, message: { ...message, provider: null, model: null } })).toEqual([
    "message.provider",
  ]);
  expect(issuesOf({ ...post, message: { ...message, metadata: { a: null } } })).toEqual([
    "message.metadata.a",
  ]);
  expect(issuesOf({ ...post, modle: null })).toEqual(["modle"]);
  expect(
    issuesOf({ ...post, message: { ...message, type: "batch", batch_id: "b", items: [null] } }),
  ).toContain("message.items.0");
  expect(isAbsent(z.string().nullable().optional(), null)).toBe(false);
  expect(isAbsent(z.string(), null)).toBe(false);
});

test("Does not change the value it is given", () => {
  const value = Object.freeze({
    project: "p",
    source: "api",
    idempotency_key: null,
    message: Object.freeze({ ...message, model: null }),
  });
  expect(parsePart(ingestRequest, value).ok).toBe(true);
  expect(value.message.model).toBeNull();
});
