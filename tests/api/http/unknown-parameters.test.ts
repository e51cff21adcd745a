import { beforeAll, describe, expect, test } from "vitest";
import { routes } from "@/app/routes.generated";
import { declaration, type Endpoint, methods } from "@/lib/http/define-route";
import { prepareWorld, type World } from "@/tests/helpers/access/callers";
import { samples } from "@/tests/helpers/access/samples";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

// Ignoring a misspelt parameter would silently give another answer: a request for one month would get another one's
// figures.

/** Routes of protocols that ignore unknown parameters. */
const otherProtocols = [
  // RFC 9728, 3.1: the query of the resource is part of its metadata's address.
  "/.well-known/oauth-authorization-server",
  "/.well-known/oauth-authorization-server/[...path]",
  "/.well-known/oauth-protected-resource",
  "/.well-known/oauth-protected-resource/[...path]",
  "/api/mcp/.well-known/oauth-protected-resource",
  // Answers 404 to everything.
  "/api/[...path]",
  // MCP: gateways and clients add parameters of their own to a server's address.
  "/api/mcp",
  // As Supabase Auth does.
  "/auth/v1/[...path]",
  "/callback",
  // A scrape may carry parameters that its configuration names.
  "/metrics",
  // A link, which leads to the outbox whatever it has.
  "/outbox/open",
  // RFC 6749, 3.1 and 3.2: unrecognized parameters are ignored.
  "/oauth/consent",
  "/oauth/register",
  "/oauth/revoke",
  "/oauth/token",
];

type Found = { name: string; method: string; path: string; declared: Endpoint };
const found: Found[] = [];
for (const { path, load } of routes) {
  const module = await load();
  for (const method of methods) {
    const declared = (module[method] as { [declaration]?: Endpoint } | undefined)?.[declaration];
    const takesAny = declared?.query && !("shape" in declared.query);
    if (declared && !takesAny) found.push({ name: `${method} ${path}`, method, path, declared });
  }
}

const harness = withSharedHarness();
let world: World;
beforeAll(async () => {
  world = await prepareWorld(harness);
});

async function call({ name, method, path, declared }: Found, parameter: string) {
  const caller = declared.auth === "key" || declared.auth === "ingest" ? "an API key" : "owner";
  const { params = {}, query = "", headers = {}, body } = (await samples[name]?.(world, caller)) ?? {};
  const filled = Object.entries({ slug: world.workspace.slug, ...params }).reduce(
    (rest, [key, value]) => rest.replace(`[${key}]`, encodeURIComponent(value)),
    path,
  );
  const response = await fetch(`${world.baseUrl}${filled}${query}${query ? "&" : "?"}${parameter}`, {
    method,
    headers: {
      ...(declared.auth !== "none" && { authorization: `Bearer ${world.credentials[caller]}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

test("Refuses unknown parameters on every route, except in protocols that ignore them", () => {
  const refusing = new Set(found.map(({ path }) => path));
  const others = routes.map(({ path }) => path).filter((path) => !refusing.has(path));
  expect(others.sort()).toEqual(otherProtocols.sort());
});

/** Receivers of OTLP have errors of their own form; `otlp-receiver.test.ts` tests theirs. */
const isReceiver = ({ path }: Found) => /^\/api\/(otlp|public)\//.test(path);

describe.each(found.filter((endpoint) => !isReceiver(endpoint)))("$name", (endpoint) => {
  test("Refuses an unknown parameter and lists the known ones", async () => {
    const { status, body } = await call(endpoint, "no_such_parameter=2026-10");
    expect([status, body.error]).toEqual([400, "validation_failed"]);
    const known = Object.keys((endpoint.declared.query as unknown as { shape?: object })?.shape ?? {});
    expect(body.issues).toEqual([
      {
        path: "query.no_such_parameter",
        message:
          known.length > 0
            ? `is not a parameter of this endpoint; its parameters are: ${known.join(", ")}`
            : "is not a parameter of this endpoint; it has no parameters",
      },
    ]);
  });
});

test("Serves metadata at an address with its resource's query", async () => {
  const path = "/.well-known/oauth-protected-resource/api/mcp";
  const [plain, queried] = await Promise.all(
    ["", "?project=checkout"].map(async (query) => (await fetch(world.baseUrl + path + query)).json()),
  );
  expect(plain.resource).toMatch(/\/api\/mcp$/);
  expect(queried).toEqual(plain);
});

test("Refuses a summary of another month instead of answering this one", async () => {
  const { status, body } = await call(
    found.find(({ path }) => path === "/api/v1/summary/month") as Found,
    "month=2026-10",
  );
  expect(status).toBe(400);
  expect(body.issues[0].path).toBe("query.month");
});
