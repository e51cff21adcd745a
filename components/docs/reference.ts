import type { OpenApiDocument, Operation } from "@/lib/contract/openapi";
import { type Context, type DocsField, toField, toFields, toVariants, type Variant } from "./fields";
import { type Credential, type Snippet, writeSnippets } from "./snippets";

/** The path of a resource's page: `/docs/api-keys` for "API keys". */
export function resourcePath(name: string): string {
  return `/docs/${kebab(name)}`;
}

/** An error that an endpoint can answer, and its cause. */
export type ErrorRow = { status: number; code: string; when: string };

/** An example request in several languages. */
export type RequestExample = { name: string; label: string; snippets: Snippet[] };

/** An endpoint, as the reference shows it. */
export type ReferenceEndpoint = {
  id: string;
  method: string;
  path: string;
  summary: string;
  description?: string | undefined;
  credential: Credential;
  permission?: string | undefined;
  /** The lowest role that may call it. */
  role?: string | undefined;
  parameters: { title: string; fields: DocsField[] }[];
  /** Where the body is one of several objects, `fields` are those that all of them have, and `variants` have the others. */
  body?: { description: string; fields: DocsField[]; variants: Variant[] } | undefined;
  response: {
    status: string;
    description: string;
    fields: DocsField[];
    /** The endpoint before it on the page that answers with the same fields; they are shown there. */
    sameAs?: { label: string; href: string } | undefined;
    example?: string | undefined;
  };
  errors: ErrorRow[];
  requests: RequestExample[];
};

/** The endpoints of one resource, and the path of their page. */
export type Resource = { name: string; path: string; endpoints: ReferenceEndpoint[] };

/** All endpoints by resource, in the order of the document. */
export type Reference = {
  groups: Resource[];
  /** All errors that any endpoint can answer, by status. */
  errors: ErrorRow[];
};

const json = "application/json";

/**
 * Maps an OpenAPI document to what the pages show.
 * @param baseUrl base URL of the example requests
 */
export function toReference(document: OpenApiDocument, baseUrl: string): Reference {
  const context = { schemas: document.components.schemas, shown: findBodies(document) };
  const endpoints = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      tag: operation.tags[0],
      endpoint: toEndpoint(method.toUpperCase(), path, operation, context, baseUrl),
    })),
  );
  const groups = document.tags.map(({ name }) => ({
    name,
    path: resourcePath(name),
    endpoints: linkSameAnswers(endpoints.filter(({ tag }) => tag === name).map(({ endpoint }) => endpoint)),
  }));
  const errors = new Map(endpoints.flatMap(({ endpoint }) => endpoint.errors.map((row) => [row.code, row])));
  return { groups, errors: [...errors.values()].sort((a, b) => a.status - b.status) };
}

/** Sets `sameAs` of answers that repeat the fields of an earlier answer, or of a field in one, to the first such endpoint. */
function linkSameAnswers(endpoints: ReferenceEndpoint[]): ReferenceEndpoint[] {
  const first = new Map<string, { label: string; href: string }>();
  return endpoints.map((endpoint) => {
    const { id, summary, response } = endpoint;
    if (response.fields.length === 0) return endpoint;
    const shape = JSON.stringify(response.fields);
    const sameAs = first.get(shape);
    if (!sameAs) first.set(shape, { label: summary, href: `#${id}` });
    for (const { name, fields } of response.fields) {
      const item = JSON.stringify(fields);
      if (fields.length > 0 && !first.has(item))
        first.set(item, { label: `${name} in “${summary}”`, href: `#${id}` });
    }
    return { ...endpoint, response: { ...response, sameAs } };
  });
}

/** Where the schemas of request bodies are described, so that other schemas can link there. */
function findBodies(document: OpenApiDocument): Context["shown"] {
  const bodies = Object.values(document.paths).flatMap((item) =>
    Object.values(item).flatMap(
      ({ requestBody, operationId, summary, tags }): [string, { label: string; href: string }][] => {
        const reference = requestBody?.content[json]?.schema.$ref;
        return reference
          ? [
              [
                reference.slice(reference.lastIndexOf("/") + 1),
                { label: summary, href: `${resourcePath(tags[0] ?? "")}#${kebab(operationId)}` },
              ],
            ]
          : [];
      },
    ),
  );
  return new Map(bodies);
}

function toEndpoint(
  method: string,
  path: string,
  operation: Operation,
  context: Context,
  baseUrl: string,
): ReferenceEndpoint {
  const { parameters = [], requestBody, responses } = operation;
  const [status = "200", success] = Object.entries(responses).find(([code]) => code.startsWith("2")) ?? [];
  const answer = success?.content?.[json];
  const body = requestBody?.content[json];
  const example = Object.values(answer?.examples ?? {})[0]?.value;
  const locations = [
    { title: "Path", location: "path" },
    { title: "Query", location: "query" },
    { title: "Headers", location: "header" },
  ];
  return {
    id: kebab(operation.operationId),
    method,
    path,
    summary: operation.summary,
    description: operation.description,
    credential: credentialOf(operation),
    permission: operation["x-permission"],
    role: operation["x-role"],
    parameters: locations
      .map(({ title, location }) => ({
        title,
        fields: parameters
          .filter((parameter) => parameter.in === location)
          .map(({ name, required, description, schema }) =>
            toField(name, { ...schema, ...(description && { description }) }, required, context),
          ),
      }))
      .filter(({ fields }) => fields.length > 0),
    body: body && {
      description: requestBody?.description ?? "",
      ...splitVariants(toVariants(body.schema, context), toFields(body.schema, context)),
    },
    response: {
      status,
      description: success?.description ?? "",
      fields: answer ? toFields(answer.schema, context) : [],
      example: example === undefined ? undefined : JSON.stringify(example, null, 2),
    },
    errors: toErrorRows(operation),
    requests: toRequestExamples(method, path, operation, baseUrl),
  };
}

/**
 * Moves the fields that all alternatives share out of them, in front of the other fields. Alternatives that are equal then become
 * one: `kind: "slack"` or `kind: "teams"`.
 */
function splitVariants(
  variants: Variant[],
  fields: DocsField[],
): { variants: Variant[]; fields: DocsField[] } {
  const shapes = variants.map((variant) => new Set(variant.fields.map((field) => JSON.stringify(field))));
  const isShared = (field: DocsField) => shapes.every((shape) => shape.has(JSON.stringify(field)));
  const merged = new Map<string, Variant>();
  for (const variant of variants) {
    const own = variant.fields.filter((field) => !isShared(field));
    const shape = JSON.stringify([variant.description, own]);
    const same = merged.get(shape);
    merged.set(shape, {
      ...variant,
      name: same ? `${same.name} or ${variant.name}` : variant.name,
      fields: own,
    });
  }
  return {
    fields: [...(variants[0]?.fields.filter(isShared) ?? []), ...fields],
    variants: [...merged.values()],
  };
}

function credentialOf({ security }: Operation): Credential {
  if (security.length === 0) return "none";
  return security.some((one) => one.apiKey) ? "key" : "user";
}

function toErrorRows({ responses }: Operation): ErrorRow[] {
  return Object.entries(responses).flatMap(([status, { content }]) =>
    Number(status) < 400
      ? []
      : Object.entries(content?.[json]?.examples ?? {}).map(([code, { summary = "" }]) => ({
          status: Number(status),
          code,
          when: summary,
        })),
  );
}

function toRequestExamples(
  method: string,
  path: string,
  operation: Operation,
  baseUrl: string,
): RequestExample[] {
  const { parameters = [], requestBody } = operation;
  const address = path.replace(/\{([^}]+)\}/g, (_, name: string) => {
    const schema = parameters.find((parameter) => parameter.name === name)?.schema;
    return String(
      schema?.examples?.[0] ?? (schema?.format === "uuid" ? "0193a0f2-8c1d-7b1e-9d55-1f3e0a6b7c20" : name),
    );
  });
  const call = { method, url: baseUrl + address, credential: credentialOf(operation) };
  const bodies = Object.entries(requestBody?.content[json]?.examples ?? {});
  if (bodies.length === 0) return [{ name: "request", label: "Request", snippets: writeSnippets(call) }];
  return bodies.map(([name, { summary, value }]) => ({
    name,
    label: summary ?? name,
    snippets: writeSnippets({ ...call, body: value }),
  }));
}

/** `postMessagesBatch` as `post-messages-batch`, which is also the id of the section. */
function kebab(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .replace(/[^A-Za-z0-9]+/g, "-")
    .toLowerCase();
}
