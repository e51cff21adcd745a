import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Validator } from "@seriousme/openapi-schema-validator";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { routes } from "@/app/routes.generated";
import { requestExamples, responseExamples } from "@/lib/contract/examples";
import type { JsonSchema, OpenApiDocument } from "@/lib/contract/openapi";
import { statusOf } from "@/lib/errors";
import { generateRoutes } from "@/scripts/generate-routes.mjs";
import { declaration, type Endpoint, methods } from "./define-route";
import { buildOpenApi } from "./openapi";
import { convertPath } from "./route-table";

let document: OpenApiDocument;
let endpoints: { path: string; method: string; declared: Endpoint }[];

beforeAll(async () => {
  document = await buildOpenApi(routes, "https://outlay.example.com");
  const perRoute = routes
    .filter(({ path }) => !path.includes("[...") && path !== "/api/openapi.json")
    .map(async ({ path, load }) => {
      const module = await load();
      return methods.flatMap((method) => {
        const declared = (module[method] as { [declaration]?: Endpoint } | undefined)?.[declaration];
        return declared
          ? [{ path: convertPath(path, (name) => `{${name}}`), method: method.toLowerCase(), declared }]
          : [];
      });
    });
  endpoints = (await Promise.all(perRoute)).flat();
});

type Place = { schema: JsonSchema; name: string; place: string };

/**
 * Every schema of the document with the name that generators derive from its position: its component's name and then
 * its members', each capitalised. `sent`: only those that a caller sends.
 */
function* everySchema({ paths, components }: OpenApiDocument, { sent = false } = {}): Generator<Place> {
  const seen = new Set<string>();
  function* within(schema: JsonSchema, name: string, place: string): Generator<Place> {
    if (schema.$ref) {
      const id = schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1);
      if (seen.has(id)) return;
      seen.add(id);
      yield* within(components.schemas[id] ?? {}, id, `/components/schemas/${id}`);
      return;
    }
    yield { schema, name, place };
    for (const [member, inner] of Object.entries(schema.properties ?? {}))
      yield* within(inner, name + capitalize(member), `${place}/${member}`);
    const { items, additionalProperties, oneOf = [], anyOf = [], allOf = [] } = schema;
    if (items) yield* within(items, `${name}Item`, `${place}/[]`);
    if (typeof additionalProperties === "object" && Object.keys(additionalProperties).length > 0)
      yield* within(additionalProperties, `${name}Value`, `${place}/*`);
    for (const option of [...oneOf, ...anyOf, ...allOf]) {
      // The options of a union are numbered, so that their names differ.
      if (option.type !== "null") yield* within(option, option.properties ? "" : name, place);
    }
  }
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, { parameters = [], requestBody, responses }] of Object.entries(item)) {
      for (const { name, schema } of parameters)
        yield* within(schema, sent ? capitalize(name) : "", `/${method} ${path}/${name}`);
      for (const { schema } of Object.values(requestBody?.content ?? {})) yield* within(schema, "", path);
      if (sent) continue;
      for (const { content } of Object.values(responses))
        for (const { schema } of Object.values(content ?? {})) yield* within(schema, "", path);
    }
  }
}

const capitalize = (name: string) =>
  name.replace(/(?:^|[_-])([a-z])/gi, (_, letter: string) => letter.toUpperCase());

/** Whether a schema bounds the length, size or number of a value. */
function isBounded(schema: JsonSchema): boolean {
  const types = [schema.type ?? []].flat();
  const has = (...names: (keyof JsonSchema)[]) => names.some((name) => schema[name] !== undefined);
  if (has("enum", "const")) return true;
  if (
    types.includes("string") &&
    !has("maxLength", "pattern") &&
    !/^(uuid|date|date-time)$/.test(schema.format ?? "")
  )
    return false;
  if (types.some((type) => type === "number" || type === "integer"))
    return has("minimum", "exclusiveMinimum") && has("maximum", "exclusiveMaximum");
  if (types.includes("array")) return has("maxItems");
  return typeof schema.additionalProperties !== "object" || has("maxProperties");
}

const operationOf = (path: string, method: string) => document.paths[path]?.[method];

describe("The OpenAPI document", () => {
  test("Is valid OpenAPI 3.1", async () => {
    const validator = new Validator();
    const outcome = await validator.validate(structuredClone(document));
    expect(outcome.errors).toBeUndefined();
    expect(outcome.valid).toBe(true);
    expect(validator.version).toBe("3.1");
  });

  test("Resolves every reference", () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(
      ([, target]) => target,
    );
    expect(references.length).toBeGreaterThan(20);
    for (const reference of references) {
      const found = reference
        ?.slice(2)
        .split("/")
        .reduce<unknown>((node, name) => (node as Record<string, unknown> | undefined)?.[name], document);
      expect(found, reference).toBeDefined();
    }
  });

  test("Has exactly the endpoints of the route table", () => {
    const documented = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method} ${path}`),
    );
    expect(documented.sort()).toEqual(endpoints.map(({ path, method }) => `${method} ${path}`).sort());
    for (const { path } of routes.filter(({ path }) => path.startsWith("/api/v1/")))
      expect(document.paths[convertPath(path, (name) => `{${name}}`)], path).toBeDefined();
  });

  test("Names each operation once", () => {
    const ids = Object.values(document.paths).flatMap((item) =>
      Object.values(item).map((one) => one.operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("Lists every declared error of an endpoint under its status", () => {
    for (const { path, method, declared } of endpoints) {
      for (const code of declared.errors ?? []) {
        const response = operationOf(path, method)?.responses[String(statusOf[code])];
        expect(response?.content?.["application/json"]?.examples, `${method} ${path} ${code}`).toHaveProperty(
          code,
        );
      }
    }
  });

  test("Lists the refusals of endpoints that take a key", () => {
    const { responses } = operationOf("/api/v1/messages", "post") ?? {};
    const codes = Object.values(responses ?? {}).flatMap(({ content }) =>
      Object.keys(content?.["application/json"]?.examples ?? {}),
    );
    expect(codes).toEqual(
      expect.arrayContaining([
        "invalid_json",
        "validation_failed",
        "missing_credentials",
        "invalid_credentials",
        "key_revoked",
        "key_expired",
        "monthly_limit_exceeded",
        "budget_exceeded",
        "ip_not_allowed",
        "workspace_deleted",
        "permission_denied",
        "payload_too_large",
        "unsupported_media_type",
        "rate_limited",
        "internal_error",
        "unavailable",
      ]),
    );
    expect(Object.keys(responses?.["429"]?.headers ?? {})).toEqual(
      expect.arrayContaining(["Retry-After", "RateLimit", "RateLimit-Policy"]),
    );
    expect(responses?.["201"]?.headers).toHaveProperty("Idempotent-Replayed");
  });

  test("Requires no credentials, and lists no errors of them, on public endpoints", () => {
    const health = operationOf("/api/health", "get");
    expect(health?.security).toEqual([]);
    expect(Object.keys(health?.responses ?? {})).toEqual(["200", "400", "500", "503"]);
  });

  test("Describes decimals as numbers with limits everywhere", () => {
    const { UsageMessage, BatchItem, IngestResult } = document.components.schemas;
    expect(BatchItem?.properties?.quantity).toMatchObject({ type: "number", exclusiveMinimum: 0 });
    expect(UsageMessage?.properties?.estimated_cost?.anyOf?.[0]).toMatchObject({
      type: "number",
      minimum: 0,
    });
    expect(IngestResult?.properties?.amount_usd).toMatchObject({ type: "number" });
    expect(JSON.stringify(document)).not.toContain('"jsonSchema"');
  });

  test("Allows null for every optional field of a body", () => {
    const bodies = Object.values(document.components.schemas).filter(
      ({ additionalProperties }) => additionalProperties === false,
    );
    expect(bodies.length).toBeGreaterThan(10);
    for (const { properties = {}, required = [] } of bodies) {
      for (const [name, { anyOf = [] }] of Object.entries(properties))
        if (!required.includes(name)) expect(anyOf, name).toContainEqual({ type: "null" });
    }
    const { UsageMessage } = document.components.schemas;
    expect(UsageMessage?.properties?.provider?.anyOf).toBeUndefined();
    expect(UsageMessage?.properties?.model).toMatchObject({
      description: expect.stringContaining("model"),
      anyOf: [{ type: "string", minLength: 1, maxLength: 128 }, { type: "null" }],
    });
    // Parameters are text and cannot be null.
    expect(JSON.stringify(operationOf("/api/v1/projects/{slug}/spend", "get")?.parameters)).not.toContain(
      "null",
    );
  });

  test("Says what every optional field of a body is, also where several alternatives share it", () => {
    const saysNothing = ({ anyOf = [] }: JsonSchema) =>
      anyOf.some((option) => Object.keys(option).length === 0);
    const places = [...everySchema(document, { sent: true })].filter(({ schema }) => saysNothing(schema));
    expect(places.map(({ place }) => place)).toEqual([]);
  });

  test("Has an enum beside every const, for generators that read only enums", () => {
    const constants = [...everySchema(document)].filter(({ schema }) => schema.const !== undefined);
    expect(constants.length).toBeGreaterThan(5);
    for (const { schema, name } of constants) expect([name, schema.enum]).toEqual([name, [schema.const]]);
  });

  test("Gives no two types the same generated name", () => {
    const names = new Map<string, string>();
    for (const { schema, name, place } of everySchema(document)) {
      // Checks members of components only: generators make a type of its own of each, named beside all others.
      if (!place.startsWith("/components/schemas/") || name === "") continue;
      if (!schema.enum && !schema.properties && name !== place.split("/").at(-1)) continue;
      expect([name, names.get(name) ?? place]).toEqual([name, place]);
      names.set(name, place);
    }
    expect(names.size).toBeGreaterThan(100);
  });

  test("Bounds everything that a caller sends, as the service does", () => {
    const unbounded = [...everySchema(document, { sent: true })]
      .filter(({ schema }) => !isBounded(schema))
      .map(({ name }) => name);
    // Numbers in `metadata`, the token of a link and what OTLP and gateways define are unbounded.
    const exceptions =
      /^(Token|\w+MetadataValue|Export(Traces|Metrics|Logs)Request\w*|(LiteLlm|OpenRouter|Helicone)(Call|Delivery)\w*)$/;
    expect(unbounded.filter((name) => !exceptions.test(name))).toEqual([]);
  });

  test("Discriminates the kinds of a message by their type", () => {
    const message = document.components.schemas.CostMessage?.properties?.message;
    expect(message?.discriminator).toMatchObject({
      propertyName: "type",
      mapping: { usage: "#/components/schemas/UsageMessage", expense: "#/components/schemas/ExpenseMessage" },
    });
  });
});

describe("The documentation's examples", () => {
  const idOf = (schema: z.ZodType | undefined) => schema && (z.globalRegistry.get(schema)?.id ?? "");

  test("Are requests that the service accepts", () => {
    const bodies = new Map(endpoints.map(({ declared: { body } }) => [idOf(body), body]));
    for (const [id, examples] of Object.entries(requestExamples)) {
      for (const [name, { value }] of Object.entries(examples))
        expect(bodies.get(id)?.safeParse(value).error?.issues, `${id} ${name}`).toBeUndefined();
      expect(bodies.get(id), id).toBeDefined();
    }
  });

  test("Are responses that the service gives", () => {
    const answers = new Map(endpoints.map(({ declared: { response } }) => [idOf(response), response]));
    for (const [id, value] of Object.entries(responseExamples))
      expect(answers.get(id)?.safeParse(value).error?.issues, id).toBeUndefined();
  });

  test("Exist for every endpoint with a body or a named response schema", () => {
    for (const { path, method, declared } of endpoints) {
      const operation = operationOf(path, method);
      const place = `${method} ${path}: add one to lib/contract/examples.ts`;
      if (declared.body)
        expect(operation?.requestBody?.content["application/json"]?.examples, place).toBeDefined();
      const success = operation?.responses[String(declared.status ?? 200)]?.content?.["application/json"];
      if (idOf(declared.response)) expect(success?.examples, place).toBeDefined();
    }
  });
});

describe("app/routes.generated.ts", () => {
  test("Equals what scripts/generate-routes.mjs generates", () => {
    const file = fileURLToPath(new URL("../../app/routes.generated.ts", import.meta.url));
    expect(readFileSync(file, "utf8")).toBe(generateRoutes());
  });
});
