import { beforeAll, describe, expect, test } from "vitest";
import { routes } from "@/app/routes.generated";
import { declaration, type Endpoint, methods } from "@/lib/http/define-route";
import { type Caller, callers, members, prepareWorld, type World } from "@/tests/helpers/access/callers";
import { samples } from "@/tests/helpers/access/samples";
import { withHarness } from "@/tests/helpers/harness";

// Every route × every kind of caller. The expectation of each cell comes from the route's declaration, so that a route
// which checks nothing, or another role than it declares, fails.

/** A credential counts only as its own kind: a JWT is not a key, and a key is not a user. */
const forged: Caller[] = ["an expired token", "a token with alg none", "a token signed by another key"];

/** Endpoints with rules beyond their declaration, each with tests of its own. */
const apart = [
  "/.well-known/oauth-authorization-server/[...path]",
  "/.well-known/oauth-protected-resource/[...path]",
  "/api/[...path]",
  "/api/jobs",
  "/auth/v1/[...path]",
  "/callback",
];

type Cell = { name: string; declared: Endpoint; method: string; path: string; caller: Caller };

const endpoints = (
  await Promise.all(
    routes
      .filter(({ path }) => !apart.includes(path))
      .map(async ({ path, load }) => {
        const module = await load();
        return methods.flatMap((method) => {
          const handler = module[method] as { [declaration]?: Endpoint } | undefined;
          const declared = handler?.[declaration];
          return declared ? [{ name: `${method} ${path}`, method, path, declared }] : [];
        });
      }),
  )
).flat();

const cells: Cell[] = endpoints.flatMap((endpoint) => callers.map((caller) => ({ ...endpoint, caller })));

const harness = withHarness();
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
    where t.schemaname = 'public' and t.tablename not in ('source_arrivals', 'source_refusals', 'refused_exports')`);
  everything = rows[0].statement;
});

async function call(cell: Cell, slug = world.workspace.slug) {
  const { name, method, path, caller } = cell;
  const isRefused = promise(cell).length > 1;
  const {
    params = {},
    query = "",
    headers = {},
    body,
    restore,
  } = (await samples[name]?.(world, caller)) ?? {};
  const before = isRefused && (await readEverything());
  const filled = Object.entries({ slug, ...params }).reduce(
    (rest, [key, value]) => rest.replace(`[${key}]`, encodeURIComponent(value)),
    path,
  );
  const credential = world.credentials[caller];
  const response = await fetch(world.baseUrl + filled + query, {
    method,
    headers: {
      ...(credential !== null && { authorization: `Bearer ${credential}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const changed = isRefused && (await readEverything()) !== before;
  if (response.ok) await restore?.();
  return { status: response.status, body: response.ok ? {} : readError(text), changed };
}

/** The body of an error. A receiver of OTLP has the code at the beginning of the message of its `google.rpc.Status`. */
function readError(text: string): Record<string, unknown> {
  const body = JSON.parse(text);
  return typeof body.code === "number" ? { error: body.message.split(":", 1)[0] } : body;
}

/**
 * A digest of every row that the service's users can see or write, except when a key was last used, and what came in with
 * it, which are written later.
 */
async function readEverything(): Promise<string> {
  const { rows } = await harness.fixtures.sql.query(everything);
  return JSON.stringify(rows);
}

/** What the declaration promises this caller: a status and, for a refusal, its code. */
function promise({ declared, caller }: Cell): [number, string?] {
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

describe.each(endpoints)("$name", ({ name }) => {
  test.each(cells.filter((cell) => cell.name === name))("Answers $caller as declared", async (cell) => {
    const answer = await call(cell);
    const [status, error] = promise(cell);
    expect([answer.status, answer.body.error]).toEqual([status, error]);
    if (error) expect(answer.changed, "a refused call changed something").toBe(false);
  });
});

describe("A resource of another workspace and one that does not exist", () => {
  const hidden = cells.filter(
    ({ declared, caller }) => declared.role && caller === "a member of another workspace",
  );
  test.each(hidden)("Get the same answer: $name", async (cell) => {
    const answers = [await call(cell), await call(cell, "no-such-workspace")];
    // The request id is the only difference between two answers.
    const [one, other] = answers.map(({ status, body: { request_id, ...rest } }) =>
      JSON.stringify({ status, ...rest }),
    );
    expect(one).toBe(other);
    expect(answers[0]?.status).toBe(404);
  });
});
