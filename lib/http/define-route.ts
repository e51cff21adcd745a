import { z } from "zod";
import { authenticateUser, type UserPrincipal } from "@/lib/access/sign-in/authenticate";
import type { WorkspaceRole } from "@/lib/contract/me";
import type { Permission } from "@/lib/contract/permissions";
import { readPart } from "@/lib/contract/read-part";
import { env } from "@/lib/env";
import { type ErrorCode, ServiceError, validationFailed } from "@/lib/errors";
import type { KeyLookup } from "@/lib/keys/api-key";
import { readCredentials } from "@/lib/keys/credentials";
import { admitRead, checkCaller, type KeyPrincipal } from "@/lib/keys/guard";
import { defaultBodyLimit, readJsonBody, type Sender } from "./body";
import { callerAddress } from "./peer";
import { errorResponse, jsonResponse, newRequestId, rateHeaders, streamResponse } from "./reply";
import { mediaTypeOf, type StreamedBody } from "./streamed";

export const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
export type Method = (typeof methods)[number];

type Schema = z.ZodType;
type Output<S extends Schema | undefined> = S extends Schema ? z.output<S> : undefined;

/** Who may call: anybody, an API key that reads, an API key whose body decides (ingest), or a signed-in user. */
type Auth = "none" | "key" | "ingest" | "user";

/** What a handler of each kind of route is told about its caller. */
type Caller = {
  none: unknown;
  key: { principal: KeyPrincipal };
  ingest: { caller: { lookup: KeyLookup; address: string | undefined } };
  user: { principal: UserPrincipal };
};

/** One endpoint: everything the handler, the documentation and the tests need to know about it. */
export type Endpoint<
  A extends Auth = Auth,
  P extends Schema | undefined = Schema | undefined,
  Q extends Schema | undefined = Schema | undefined,
  B extends Schema | undefined = Schema | undefined,
  R extends Schema = Schema,
> = {
  summary: string;
  description?: string;
  auth: A;
  /** The permission a reading key needs; for ingest, the sentence that says which one when. */
  permission?: A extends "key" ? Permission : string;
  /**
   * The least role in the path's workspace that may go on; none where a route is about no workspace. The service asks
   * for it (`requireMembership`) and the documentation shows it; a test holds the two together for every route.
   */
  role?: A extends "user" ? WorkspaceRole : never;
  params?: P;
  query?: Q;
  body?: B;
  bodyLimitBytes?: number;
  response: R;
  /** Status of success; 200 unless said. */
  status?: number;
  /** The errors of its own, beside those that every endpoint of its kind can answer. */
  errors?: ErrorCode[];
  run: (
    context: Caller[A] & {
      request: Request;
      /** Headers that go on the response whatever becomes of the request. */
      headers: Record<string, string>;
      params: Output<P>;
      query: Output<Q>;
      /** For ingest, a body that is not valid is handed over as the refusal it earns. */
      body: A extends "ingest" ? Output<B> | ServiceError : Output<B>;
    },
  ) => Promise<z.output<R>>;
};

/** What the self-hosted server or Next passes beside the request. `peer` is the socket's remote address. */
export type RouteContext = { params: Promise<Record<string, string | string[]>>; peer?: string | undefined };

export type Handler = (request: Request, context: RouteContext) => Promise<Response>;

/** Carries an endpoint's declaration on its handler, for the documentation to read. */
export const declaration = Symbol.for("outlay.endpoint");

/** Helps inference: one endpoint of a route, its handler typed by its schemas. */
export function endpoint<
  A extends Auth,
  R extends Schema,
  P extends Schema | undefined = undefined,
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
>(declared: Endpoint<A, P, Q, B, R>): Endpoint {
  return declared as unknown as Endpoint;
}

/**
 * Turns the endpoints of one path into the handlers a route file exports. Each parses what comes in by its schemas,
 * admits the caller, runs, and encodes what goes out; methods without an endpoint answer 405.
 */
export function defineRoute(endpoints: Partial<Record<Method, Endpoint>>): RouteHandlers {
  const declared = methods.flatMap((method) => {
    const endpoint = endpoints[method];
    return endpoint ? [[method, serve(endpoint)] as const] : [];
  });
  return answerMethods(Object.fromEntries(declared));
}

/** A handler for each method: what a route file exports. */
export type RouteHandlers = Record<Method | "OPTIONS", Handler>;

/**
 * Completes the handlers of a path: 405 for every other method, and OPTIONS that lists those there are. A route file
 * exports all of them, because what it does not export the self-hosted server and Next each answer in their own way.
 */
export function answerMethods(handlers: Partial<Record<Method, Handler>>): RouteHandlers {
  const allow = methods.filter((method) => handlers[method]).join(", ");
  const refuse = refuseMethod(allow);
  const listMethods: Handler = async () => new Response(null, { status: 204, headers: { Allow: allow } });
  const all = methods.map((method) => [method, handlers[method] ?? refuse] as const);
  return { ...(Object.fromEntries(all) as Record<Method, Handler>), OPTIONS: listMethods };
}

/** The handler of a method that a path does not have. @param allow the methods it has */
export function refuseMethod(allow: string): Handler {
  return async (request) => {
    const refusal = new ServiceError(
      "method_not_allowed",
      `${request.method} is not possible here; ${allow || "nothing"} is.`,
      {},
      { Allow: allow },
    );
    return errorResponse(refusal, newRequestId());
  };
}

function serve(declared: Endpoint): Handler {
  const handler: Handler = async (request, context) => {
    const requestId = newRequestId();
    const extra: Extra = { headers: {}, setCookies: [] };
    const respond = async () => {
      try {
        const body = await answerRequest(declared, request, context, extra);
        if (env().NODE_ENV !== "production") declared.response.parse(body);
        const mediaType = mediaTypeOf(declared.response);
        return mediaType === undefined
          ? jsonResponse(body, declared.status ?? 200, requestId, extra.headers)
          : streamResponse(body as StreamedBody, mediaType, requestId, extra.headers);
      } catch (error) {
        return errorResponse(error, requestId, extra.headers);
      }
    };
    const response = await respond();
    for (const cookie of extra.setCookies) response.headers.append("Set-Cookie", cookie);
    return response;
  };
  return Object.assign(handler, { [declaration]: declared });
}

/** What goes on the response beside its body, whatever becomes of the request. */
type Extra = { headers: Record<string, string>; setCookies: string[] };

async function answerRequest(
  declared: Endpoint,
  request: Request,
  context: RouteContext,
  { headers, setCookies }: Extra,
): Promise<unknown> {
  const run = declared.run as (context: unknown) => Promise<unknown>;
  const parse = (from?: Sender) => parseAll(declared, request, context, from);
  if (declared.auth === "none") return run({ request, headers, ...(await parse()) });
  if (declared.auth === "user") {
    const principal = await authenticateUser(request, callerAddress(request, context.peer), setCookies);
    return run({ request, headers, principal, ...(await parse()) });
  }
  const lookup = readCredentials(request.headers.get("authorization"));
  const address = callerAddress(request, context.peer);
  if (declared.auth === "ingest") {
    const caller = { lookup, address };
    let refusal: Error | undefined;
    // Most calls are short, and their key is looked up once, with the group that records them.
    const require = async () => {
      const checked = await checkCaller(caller);
      Object.assign(headers, rateHeaders(checked.rate));
      refusal = checked.refusal;
      if (refusal) throw refusal;
    };
    const parsed = await parse({ require }).catch((error) => {
      if (error instanceof ServiceError && error !== refusal) return { body: error, query: {}, params: {} };
      throw error;
    });
    return run({ request, headers, caller, ...parsed });
  }
  const { outcome, rate } = await admitRead({
    lookup,
    address,
    permission: declared.permission as Permission,
  });
  Object.assign(headers, rateHeaders(rate));
  if (outcome instanceof Error) throw outcome;
  return run({ request, headers, principal: outcome, ...(await parse()) });
}

async function parseAll(
  { params, query, body, bodyLimitBytes }: Endpoint,
  request: Request,
  context: RouteContext,
  from?: Sender,
) {
  return {
    params: params && parsePart(params, await context.params, "path"),
    query: parseQuery(query, request),
    body: body && parsePart(body, await readJsonBody(request, bodyLimitBytes ?? defaultBodyLimit, from), ""),
  };
}

/**
 * A parameter that an endpoint does not know is refused, on endpoints without any too: what it asks for would be missing
 * from the answer in silence.
 * @throws ServiceError validation_failed, naming the parameters that there are
 */
function parseQuery(schema: Schema | undefined, request: Request): unknown {
  const given = readQuery(request);
  if (schema && !(schema instanceof z.ZodObject)) return parsePart(schema, given, "query");
  const known = Object.keys(schema?.shape ?? {});
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    const hint = known.length > 0 ? `there are: ${known.join(", ")}` : "this endpoint takes none";
    throw validationFailed(
      unknown.map((name) => ({
        path: `query.${name}`,
        message: `is no parameter of this endpoint; ${hint}`,
      })),
    );
  }
  return schema && parsePart(schema, given, "query");
}

/** @throws ServiceError validation_failed for a parameter that is there twice: one of the two would be lost in silence */
function readQuery(request: Request): Record<string, string> {
  const start = request.url.indexOf("?");
  if (start < 0) return {};
  const query = new URLSearchParams(request.url.slice(start));
  const names = [...query.keys()];
  const twice = new Set(names.filter((name, index) => names.indexOf(name) < index));
  if (twice.size > 0)
    throw validationFailed(
      [...twice].map((name) => ({ path: `query.${name}`, message: "must be given once" })),
    );
  return Object.fromEntries(query);
}

/** @throws ServiceError validation_failed. @param place where the value stands, put before the path of an issue */
function parsePart(schema: Schema, value: unknown, place: string): unknown {
  const read = readPart(schema, value, place);
  if (read.ok) return read.value;
  throw validationFailed(read.issues);
}
