import type { ApiResponse, OpenApiDocument, Operation } from "@/lib/contract/openapi";
import { type Context, type DocsField, idOf, toField, toFields, toVariants, type Variant } from "./fields";
import { type Credential, type Snippet, writeSnippets } from "./snippets";

/** An error that an endpoint can answer, and its cause. */
export type ErrorRow = { status: number; code: string; when: string };

/** An example request in several languages. */
export type RequestExample = { name: string; label: string; snippets: Snippet[] };

/** A link to another part of the reference. */
type Place = { label: string; href: string };

/** An endpoint, as the reference shows it. */
export type ReferenceEndpoint = ReturnType<typeof toEndpoint> & {
  /** The endpoint before it on the page that answers with the same fields; they are shown there. */
  sameAs?: Place | undefined;
};

/** The endpoints of one resource, and the path of their page, such as `/docs/api-keys`. */
export type Resource = { name: string; path: string; endpoints: ReferenceEndpoint[] };

/** All endpoints by resource, in the order of the document, and all errors that any of them can answer. */
export type Reference = { groups: Resource[]; errors: ErrorRow[] };

const json = "application/json";

/**
 * Maps an OpenAPI document to what the pages show.
 * @param baseUrl base URL of the example requests
 */
export function toReference(document: OpenApiDocument, baseUrl: string): Reference {
  const context = { schemas: document.components.schemas, shown: findBodies(document) };
  const endpoints = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) =>
      toEndpoint(method.toUpperCase(), path, operation, context, baseUrl),
    ),
  );
  const groups = document.tags.map(({ name }) => ({
    name,
    path: pathOf(name),
    endpoints: linkSameAnswers(endpoints.filter(({ tag }) => tag === name)),
  }));
  return { groups, errors: endpoints.flatMap(({ errors }) => errors) };
}

/** Sets `sameAs` of answers that repeat the fields of an earlier answer, or of a field in one, to the first such endpoint. */
function linkSameAnswers(endpoints: ReferenceEndpoint[]): ReferenceEndpoint[] {
  const first = new Map<string, Place>();
  return endpoints.map((endpoint) => {
    const { id, summary, response } = endpoint;
    if (response.fields.length === 0) return endpoint;
    const add = (fields: DocsField[], label: string) => {
      const shape = JSON.stringify(fields);
      const known = first.get(shape);
      if (!known && fields.length > 0) first.set(shape, { label, href: `#${id}` });
      return known;
    };
    const sameAs = add(response.fields, summary);
    for (const { name, fields } of response.fields) add(fields, `${name} in “${summary}”`);
    return { ...endpoint, sameAs };
  });
}

/** Where the schemas of request bodies are described, so that other schemas can link there. */
function findBodies({ paths }: OpenApiDocument): Context["shown"] {
  const operations = Object.values(paths).flatMap((item) => Object.values(item));
  return new Map(
    operations.flatMap(({ requestBody, operationId, summary, tags }) => {
      const reference = requestBody?.content[json]?.schema.$ref;
      const href = `${pathOf(tags[0] ?? "")}#${kebab(operationId)}`;
      return reference ? [[idOf(reference), { label: summary, href }] as const] : [];
    }),
  );
}

function toEndpoint(method: string, path: string, operation: Operation, context: Context, baseUrl: string) {
  const { parameters = [], requestBody, responses, operationId, summary, description } = operation;
  const [status = "200", success] = Object.entries(responses).find(([code]) => code.startsWith("2")) ?? [];
  const answer = success?.content?.[json];
  const body = requestBody?.content[json];
  const example = Object.values(answer?.examples ?? {})[0]?.value;
  const titles = { path: "Path parameters", query: "Query parameters", header: "Request headers" };
  const ofLocation = ([location, title]: [string, string]) => {
    const here = parameters.filter((parameter) => parameter.in === location);
    const fields = here.map(({ name, required, description: text, schema }) =>
      toField(name, { ...schema, ...(text && { description: text }) }, required, context),
    );
    return { title, fields };
  };
  return {
    id: kebab(operationId),
    tag: operation.tags[0],
    method,
    path,
    summary,
    description,
    credential: credentialOf(operation),
    permission: operation["x-permission"],
    /** The lowest role that may call it. */
    role: operation["x-role"],
    parameters: Object.entries(titles)
      .map(ofLocation)
      .filter(({ fields }) => fields.length > 0),
    body: body && {
      description: requestBody?.description ?? "",
      ...splitVariants(toVariants(body.schema, context), toFields(body.schema, context)),
    },
    response: {
      status,
      fields: answer ? toFields(answer.schema, context) : [],
      example: example === undefined ? undefined : JSON.stringify(example, null, 2),
    },
    errors: toErrorRows(operation),
    requests: toRequestExamples({ method, url: baseUrl + path }, operation),
  };
}

/**
 * Moves the fields that all alternatives share out of them, in front of the other fields. Alternatives that are equal then become
 * one: `kind: "slack"` or `kind: "teams"`.
 */
function splitVariants(variants: Variant[], fields: DocsField[]) {
  const shapes = variants.map((variant) => new Set(variant.fields.map((field) => JSON.stringify(field))));
  const isShared = (field: DocsField) => shapes.every((shape) => shape.has(JSON.stringify(field)));
  const merged = new Map<string, Variant>();
  for (const variant of variants) {
    const own = variant.fields.filter((field) => !isShared(field));
    const shape = JSON.stringify([variant.description, own]);
    const same = merged.get(shape);
    const name = same ? `${same.name} or ${variant.name}` : variant.name;
    merged.set(shape, { ...variant, name, fields: own });
  }
  const shared = variants[0]?.fields.filter(isShared) ?? [];
  return { fields: [...shared, ...fields], variants: [...merged.values()] };
}

function credentialOf({ security }: Operation): Credential {
  if (security.length === 0) return "none";
  return security.some((one) => one.apiKey) ? "key" : "user";
}

function toErrorRows({ responses }: Operation): ErrorRow[] {
  const rowsOf = ([status, { content }]: [string, ApiResponse]) =>
    Object.entries(content?.[json]?.examples ?? {}).map(([code, { summary = "" }]) => ({
      status: Number(status),
      code,
      when: summary,
    }));
  return Object.entries(responses)
    .flatMap(rowsOf)
    .filter(({ status }) => status >= 400);
}

function toRequestExamples(target: { method: string; url: string }, operation: Operation): RequestExample[] {
  const { parameters = [], requestBody } = operation;
  const url = target.url.replace(/\{([^}]+)\}/g, (_, name: string) => {
    const { examples = [], format } = parameters.find((parameter) => parameter.name === name)?.schema ?? {};
    return String(examples[0] ?? (format === "uuid" ? "0193a0f2-8c1d-7b1e-9d55-1f3e0a6b7c20" : name));
  });
  const call = { ...target, url, credential: credentialOf(operation) };
  const bodies = Object.entries(requestBody?.content[json]?.examples ?? {});
  if (bodies.length === 0) return [{ name: "request", label: "Request", snippets: writeSnippets(call) }];
  return bodies.map(([name, { summary: label = name, value: body }]) => ({
    name,
    label,
    snippets: writeSnippets({ ...call, body }),
  }));
}

/** The path of a resource's page: `/docs/api-keys` for "API keys". */
const pathOf = (resource: string) => `/docs/${kebab(resource)}`;

/** `postMessagesBatch` as `post-messages-batch`, which is also the id of the section. */
function kebab(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .replace(/[^A-Za-z0-9]+/g, "-")
    .toLowerCase();
}
