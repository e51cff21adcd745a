import { isDeepStrictEqual } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { routes } from "@/app/routes.generated";
import { declaration, type Endpoint, methods } from "@/lib/http/define-route";
import { type Caller, callers, members, prepareWorld, type World } from "@/tests/helpers/access/callers";
import type { Sample } from "@/tests/helpers/access/sample";
import { samples } from "@/tests/helpers/access/samples";
import { withHarness } from "@/tests/helpers/harness";

// Every route × every kind of caller, and every route × an unknown parameter. What is expected comes from the route's
// declaration, so that a route which checks nothing, or another role than it declares, fails.

type Found = { name: string; method: string; path: string; declared: Endpoint };

const found: Found[] = [];
for (const { path, load } of routes) {
  const module = await load();
  for (const method of methods) {
    const declared = (module[method] as { [declaration]?: Endpoint } | undefined)?.[declaration];
    if (declared) found.push({ name: `${method} ${path}`, method, path, declared });
  }
}

/** Routes with rules beyond their declaration, each with tests of its own. */
const apart = [
  "/.well-known/oauth-authorization-server/[...path]",
  "/.well-known/oauth-protected-resource/[...path]",
  "/api/[...path]",
  "/api/jobs",
  "/api/slack/interactions/[channel]",
  "/auth/v1/[...path]",
  "/callback",
  "/sign-in/provider",
];
const endpoints = found.filter(({ path }) => !apart.includes(path));

/** Routes of protocols that ignore unknown parameters. */
const ignoring = [
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
  // Slack sends what it defines to the address that was entered there.
  "/api/slack/interactions/[channel]",
  // As Supabase Auth does.
  "/auth/v1/[...path]",
  "/callback",
  // A link, which leads to the sign-in page whatever it has.
  "/sign-in/provider",
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
const refusing = found.filter(({ declared: { query } }) => !query || "shape" in query);

/** A credential counts only as its own kind: a JWT is not a key, and a key is not a user. */
const forged: Caller[] = ["an expired token", "a token with alg none", "a token signed by another key"];

// Without jobs, which would raise and settle alerts of their own while refused calls are compared. Providers are asked by what users do
// alone, and the keys of the samples cannot be opened.
const harness = withHarness({
  settings: { OUTLAY_JOBS: "off", PROVIDER_URLS: "anthropic=http://127.0.0.1:9" },
});
let world: World;
let everything: string;
beforeAll(async () => {
  world = await prepareWorld(harness);
  const { rows } = await harness.fixtures.sql.query(`
    select string_agg(
      format('select %L as name, count(*), sum(hashtextextended(%s::text, 0)) as digest from public.%I as t', t.tablename,
        case when c.column_name is null then 't' else '(to_jsonb(t) - ''last_used_at'')' end, t.tablename),
      ' union all '
    ) as statement
    from pg_tables as t
    left join information_schema.columns as c
      on c.table_schema = t.schemaname and c.table_name = t.tablename and c.column_name = 'last_used_at'
    where t.schemaname = 'public' and t.tablename not in ('source_arrivals', 'source_hours', 'source_refusals', 'refused_exports')`);
  everything = rows[0].statement;
});

/**
 * A digest of every row that the service's users can see or write, except when a key was last used, and what came in with
 * it, which are written later.
 */
async function readEverything(): Promise<unknown[]> {
  // With a name, so that Postgres plans it once: planning it takes longer than running it.
  return (await harness.fixtures.sql.query({ name: "everything", text: everything })).rows;
}

const sampleOf = async ({ name }: Found, caller: Caller): Promise<Sample> =>
  (await samples[name]?.(world, caller)) ?? {};

/** @param at replaces the workspace, or adds a parameter, such as `no_such_parameter=1` */
async function send(
  { method, path }: Found,
  caller: Caller,
  { params = {}, query = "", headers = {}, body }: Sample,
  { slug = world.workspace.slug, parameter = "" } = {},
) {
  const filled = Object.entries({ slug, ...params }).reduce(
    (rest, [key, value]) => rest.replace(`[${key}]`, encodeURIComponent(value)),
    path,
  );
  const credential = world.credentials[caller];
  const response = await fetch(world.baseUrl + filled + query + parameter, {
    method,
    headers: {
      ...(credential !== null && { authorization: `Bearer ${credential}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: response.ok ? {} : readError(text) };
}

/** The body of an error. A receiver of OTLP has the code at the beginning of the message of its `google.rpc.Status`. */
function readError(text: string): Record<string, unknown> {
  const body = JSON.parse(text);
  return typeof body.code === "number" ? { error: body.message.split(":", 1)[0] } : body;
}

/** What the declaration promises a caller: a status and, for a refusal, its code. */
function promise(declared: Endpoint, caller: Caller): [number, string?] {
  const success: [number] = [declared.status ?? 200];
  if (declared.auth === "none") return success;
  if (caller === "a stranger") return [401, "missing_credentials"];
  if (declared.auth !== "user") return caller === "an API key" ? success : [401, "invalid_credentials"];
  if (caller === "an API key" || forged.includes(caller)) return [401, "invalid_credentials"];
  if (caller === "an owner who has not given their code") return [403, "mfa_required"];
  if (!declared.role) return success;
  const rank = (members as readonly Caller[]).indexOf(caller);
  if (rank < 0) return [404, "not_found"];
  return rank >= members.indexOf(declared.role) ? success : [403, "permission_denied"];
}

test("Has one sample call for every endpoint, and no other", () => {
  expect(Object.keys(samples).sort()).toEqual(endpoints.map(({ name }) => name).sort());
});

test("Declares the required role on every route of a workspace", () => {
  const about = endpoints.filter(({ path }) => path.startsWith("/api/v1/workspaces/[slug]"));
  expect(about.filter(({ declared }) => !declared.role).map(({ name }) => name)).toEqual([]);
});

test("Refuses unknown parameters on every route, except in protocols that ignore them", () => {
  const paths = new Set(refusing.map(({ path }) => path));
  expect(
    routes
      .map(({ path }) => path)
      .filter((path) => !paths.has(path))
      .sort(),
  ).toEqual(ignoring.sort());
});

/** Rows for `describe.each` and `test.each`, which print a name whole where it is not a field. */
const byName = (some: Found[]) => some.map((endpoint): [string, Found] => [endpoint.name, endpoint]);

describe.each(byName(endpoints))("%s", (_, endpoint) => {
  const { declared } = endpoint;
  const isRefused = (caller: Caller) => promise(declared, caller).length > 1;

  test.runIf(callers.some(isRefused))("Refuses callers as declared, and changes nothing", async () => {
    const calls: [Caller, Sample][] = [];
    for (const caller of callers.filter(isRefused)) calls.push([caller, await sampleOf(endpoint, caller)]);
    const before = await readEverything();
    for (const [caller, sample] of calls) {
      const { status, body } = await send(endpoint, caller, sample);
      expect([caller, status, body.error]).toEqual([caller, ...promise(declared, caller)]);
      if (!declared.role || caller !== "a member of another workspace") continue;
      // A workspace of others and one that does not exist get the same answer, but for the request id.
      const missing = await send(endpoint, caller, sample, { slug: "no-such-workspace" });
      const told = [body, missing.body].map(({ request_id: _, ...rest }) => rest);
      expect([missing.status, told[1]]).toEqual([404, told[0]]);
    }
    const after = await readEverything();
    const changed = after.filter((table, index) => !isDeepStrictEqual(table, before[index]));
    expect(changed, "a refused call changed something").toEqual([]);
  });

  test.each(callers.filter((caller) => !isRefused(caller)))("Answers %s as declared", async (caller) => {
    const sample = await sampleOf(endpoint, caller);
    const { status, body } = await send(endpoint, caller, sample);
    if (status < 300) await sample.restore?.();
    expect([status, body.error]).toEqual([...promise(declared, caller), undefined]);
  });
});

/** Receivers of OTLP have errors of their own form; `otlp-receiver.test.ts` tests theirs. */
const isReceiver = ({ path }: Found) => /^\/api\/(otlp|public)\//.test(path);

// Ignoring a misspelt parameter would silently give another answer: a request for one month would get another one's
// figures.
test.each(byName(refusing.filter((endpoint) => !isReceiver(endpoint))))(
  "%s refuses an unknown parameter and lists the known ones",
  async (_, endpoint) => {
    const { auth, query } = endpoint.declared;
    const caller = auth === "none" ? "a stranger" : auth === "user" ? "owner" : "an API key";
    const sample = await sampleOf(endpoint, caller);
    const parameter = `${sample.query ? "&" : "?"}no_such_parameter=2026-10`;
    const { status, body } = await send(endpoint, caller, sample, { parameter });
    expect([status, body.error]).toEqual([400, "validation_failed"]);
    const known = Object.keys((query as { shape?: object } | undefined)?.shape ?? {});
    expect(body.issues).toEqual([
      {
        path: "query.no_such_parameter",
        message:
          known.length > 0
            ? `is not a parameter of this endpoint; its parameters are: ${known.join(", ")}`
            : "is not a parameter of this endpoint; it has no parameters",
      },
    ]);
  },
);

test("Serves metadata at an address with its resource's query", async () => {
  const path = "/.well-known/oauth-protected-resource/api/mcp";
  const [plain, queried] = await Promise.all(
    ["", "?project=checkout"].map(async (query) => (await fetch(world.baseUrl + path + query)).json()),
  );
  expect(plain.resource).toMatch(/\/api\/mcp$/);
  expect(queried).toEqual(plain);
});
