import { setImmediate as nextTurn } from "node:timers/promises";
import { sessionCookieName } from "@/lib/access/sign-in/session-client";
import { keyPermissions } from "@/lib/contract/access/permissions";
import { requestExamples } from "@/lib/contract/examples";
import type { JsonSchema, MediaType, OpenApiDocument, Operation, Parameter } from "@/lib/contract/openapi";
import { errorBody } from "@/lib/contract/spend/reads";
import type { ErrorCode } from "@/lib/errors";
import packageJson from "@/package.json";
import { defaultBodyLimit } from "./body";
import { declaration, type Endpoint, methods } from "./define-route";
import { groupByStatus } from "./error-reference";
import { errorResponseOf, responseHeaders, successResponse } from "./openapi-responses";
import { idOf, SchemaComponents } from "./openapi-schemas";
import { bySpecificity, convertPath, type RouteEntry } from "./route-table";

type Kind = { security: Record<string, string[]>[]; errors: ErrorCode[]; limited: boolean };

const keyErrors: ErrorCode[] = [
  "missing_credentials",
  "invalid_credentials",
  "key_revoked",
  "key_expired",
  "ip_not_allowed",
  "workspace_deleted",
  "rate_limited",
  "permission_denied",
  "unavailable",
];

const userErrors: ErrorCode[] = [
  "missing_credentials",
  "invalid_credentials",
  "origin_not_allowed",
  "mfa_required",
  "unavailable",
];

/** What the endpoints of each kind have in common. */
const kinds: Record<Endpoint["auth"], Kind> = {
  none: { security: [], errors: [], limited: false },
  key: { security: [{ apiKey: [] }], errors: keyErrors, limited: true },
  ingest: { security: [{ apiKey: [] }], errors: keyErrors, limited: true },
  user: { security: [{ userToken: [] }, { session: [] }], errors: userErrors, limited: false },
};

const about =
  "Records what a team spends on AI and software, and reports exactly what it cost. Bodies are JSON; amounts are JSON numbers with all their digits.";

/** The path of the document itself, which the document does not list. */
const ownPath = "/api/openapi.json";

/**
 * Builds the OpenAPI 3.1 document from the routes' declarations. Catch-all routes and routes without `defineRoute` are
 * not in it.
 */
export async function buildOpenApi(routes: readonly RouteEntry[], server: string): Promise<OpenApiDocument> {
  const components = new SchemaComponents();
  components.add(errorBody, "output");
  const paths: OpenApiDocument["paths"] = {};
  for (const { path, load } of [...routes].sort(bySpecificity)) {
    if (path === ownPath || path.includes("[...")) continue;
    // Building all routes takes more than half a second. Yields, so that other requests do not wait.
    await nextTurn();
    const module = await load();
    for (const method of methods) {
      const declared = (module[method] as { [declaration]?: Endpoint } | undefined)?.[declaration];
      if (!declared) continue;
      const address = convertPath(path, (name) => `{${name}}`);
      paths[address] ??= {};
      paths[address][method.toLowerCase()] = operationOf(declared, method, path, components);
    }
  }
  const tags = new Set(
    Object.values(paths).flatMap((item) => Object.values(item).flatMap(({ tags }) => tags)),
  );
  return {
    openapi: "3.1.0",
    info: {
      title: "Outlay API",
      version: packageJson.version,
      description: about,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: server }],
    tags: [...tags].sort(byImportance).map((name) => ({ name })),
    paths,
    components: {
      schemas: components.schemas,
      headers: responseHeaders,
      securitySchemes: {
        apiKey: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "svc_live_…",
          description: `An API key from the dashboard. Permissions: ${keyPermissions.map((name) => `\`${name}\``).join(", ")}.`,
        },
        userToken: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "JWT",
          description: "A signed-in user's access token. API keys are not accepted.",
        },
        session: {
          type: "apiKey",
          in: "cookie",
          name: sessionCookieName,
          description: "The session of a browser that signed in, for this service's own pages.",
        },
      },
    },
  };
}

function operationOf(
  declared: Endpoint,
  method: string,
  path: string,
  components: SchemaComponents,
): Operation {
  const { summary, description, auth, permission, role, body } = declared;
  const kind = kinds[auth];
  const bodySchema = body && components.add(body, "body");
  const remembers = Boolean(bodySchema && components.resolve(bodySchema).properties?.idempotency_key);
  const parameters = [
    ...parametersOf(declared.params, "path", components),
    ...parametersOf(declared.query, "query", components),
    ...(remembers ? [idempotencyHeader] : []),
  ];
  return {
    operationId: nameOperation(method, path),
    summary,
    ...(description && { description }),
    tags: [nameResource(path)],
    security: kind.security,
    ...(permission && { "x-permission": permission }),
    ...(role && { "x-role": role }),
    ...(parameters.length > 0 && { parameters }),
    ...(bodySchema && {
      requestBody: {
        required: true as const,
        description: `JSON, at most ${(declared.bodyLimitBytes ?? defaultBodyLimit) / 2 ** 20} MiB.`,
        content: { "application/json": withExamples(bodySchema) },
      },
    }),
    responses: {
      [String(declared.status ?? 200)]: successResponse(declared, kind.limited, remembers, components),
      ...Object.fromEntries(
        groupByStatus(errorsOf(declared)).map(([status, codes]) => [
          String(status),
          errorResponseOf(
            codes,
            kind.limited,
            declared.errorBody && {
              ...declared.errorBody,
              schema: components.add(declared.errorBody.schema, "output"),
            },
          ),
        ]),
      ),
    },
  };
}

/** Every error code of an endpoint: those of its kind, of its body and of its own declaration. */
function errorsOf({ auth, body, role, errors = [] }: Endpoint): ErrorCode[] {
  return [
    ...kinds[auth].errors,
    ...(body ? (["invalid_json", "payload_too_large", "unsupported_media_type"] as const) : []),
    "validation_failed",
    ...(role ? (["workspace_deleted"] as const) : []),
    ...errors,
    "internal_error",
  ];
}

const idempotencyHeader: Parameter = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "The same as `idempotency_key` in the body, for clients that set it as a header. Send one of them.",
  schema: { type: "string", minLength: 1, maxLength: 255 },
};

function parametersOf(
  schema: Endpoint["params"],
  place: "path" | "query",
  components: SchemaComponents,
): Parameter[] {
  if (!schema) return [];
  const { properties = {}, required = [] } = components.resolve(components.add(schema, "input"));
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    required: place === "path" || required.includes(name),
    ...(description && { description }),
    schema: rest,
  }));
}

function withExamples(schema: JsonSchema): MediaType {
  const examples = schema.$ref && requestExamples[idOf(schema)];
  return { schema, ...(examples ? { examples } : {}) };
}

/** `POST /api/v1/projects/[slug]/spend` → `postProjectsBySlugSpend`. */
function nameOperation(method: string, path: string): string {
  const words = path
    .replace(/^\/api(\/v\d+)?/, "")
    .replace(/\[([^\]]+)\]/g, "by-$1")
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean);
  return method.toLowerCase() + words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join("");
}

/** Tags that come first and last; the others come between, by name. */
const firstTags = ["Messages", "Summary", "Projects", "Budgets"];
const lastTags = ["Authorization", "Health"];

function byImportance(a: string, b: string): number {
  const rank = (tag: string) => {
    if (firstTags.includes(tag)) return firstTags.indexOf(tag) - firstTags.length;
    return lastTags.indexOf(tag) + 1;
  };
  return rank(a) - rank(b) || a.localeCompare(b);
}

/** Resources whose paths do not name them. */
const resourceNames: Record<string, string> = {
  Audit: "Audit log",
  Export: "Activity",
  Jobs: "Health",
  Mcp: "Authorization",
  Org: "Workspaces",
  Otlp: "OTLP",
  Transfer: "Workspaces",
  Unpriced: "Prices",
  ".well known": "Authorization",
};

/** The tag of a path: its first segment, or in a workspace the segment after the slug, in words. */
function nameResource(path: string): string {
  const name = nameByPath(path);
  return resourceNames[name] ?? name;
}

function nameByPath(path: string): string {
  const segments = path
    .replace(/^\/api(\/v\d+)?/, "")
    .split("/")
    .filter((part) => part && !part.startsWith("["));
  const [first = "", second] = segments;
  if (first === "me") return "Current user";
  if (first === "budgets" && second === "status") return "Budget status";
  // A tag apart from the messages of keys, so that the page of each tag loads quickly.
  if (first === "workspaces" && second === "messages")
    return segments[2] === "bulk-actions" ? "Bulk actions" : "Messages of a workspace";
  if (second === "alert-channels" && segments[2] === "deliveries") return "Alert deliveries";
  if (second === "alerts" && segments[2] === "inbox") return "Inbox";
  if (second === "budgets" && segments[2] === "preview") return "Budget previews";
  const words = (first === "workspaces" && second ? second : first)
    .replaceAll("-", " ")
    .replace(/^api\b/, "API");
  return words[0]?.toUpperCase() + words.slice(1);
}
