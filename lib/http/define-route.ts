import type { z } from "zod";
import { authenticateUser, type UserPrincipal } from "@/lib/access/sign-in/authenticate";
import { requireMembership, requireMembershipOfDeleted } from "@/lib/access/workspaces/membership";
import type { WorkspaceRole } from "@/lib/contract/access/me";
import type { Permission } from "@/lib/contract/access/permissions";
import { asUserReading } from "@/lib/db/transaction";
import { env } from "@/lib/env";
import { accepted, type ErrorCode, ServiceError, type Verdict } from "@/lib/errors";
import type { KeyLookup } from "@/lib/keys/api-key";
import { parseCredentials } from "@/lib/keys/credentials";
import { admitRead, checkCaller } from "@/lib/keys/guard";
import type { KeyPrincipal } from "@/lib/keys/identify";
import { callerAddress } from "@/lib/peer";
import { passSpan } from "@/lib/tracing";
import type { Sender } from "./body";
import type { JsonBudget } from "./json-work";
import { type Output, type Parsed, type Part, parseRequest, type Schema } from "./parse-request";
import { PreparedFile } from "./prepared-file";
import {
  bodylessResponse,
  errorResponse,
  fileResponse,
  jsonResponse,
  newRequestId,
  rateHeaders,
  streamResponse,
} from "./reply";
import { mediaTypeOf, type StreamedBody } from "./streamed";
import { Turn } from "./turns";

export const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
export type HttpMethod = (typeof methods)[number];

/** Who may call: anybody, a reading API key, an API key that is checked with its group (ingest), or a signed-in user. */
type Auth = "none" | "key" | "ingest" | "user";

/** An endpoint's schemas and texts, which the documentation and the tests read. */
type Description<P extends Part, Q extends Part, B extends Part, R extends Schema> = {
  summary: string;
  description?: string;
  params?: P;
  query?: Q;
  body?: B;
  bodyLimitBytes?: number;
  bodyBudget?: JsonBudget;
  response: R;
  /** The status of success; 200 by default. */
  status?: number;
  /** The form of its errors, if a protocol defines another one than the service's. */
  errorBody?: { schema: Schema; example: (code: ErrorCode, description: string) => unknown };
  /** The error codes of this endpoint besides those of every endpoint of its kind. */
  errors?: ErrorCode[];
};

type Run<Context, R extends Schema> = (
  context: Context & {
    request: Request;
    /** Headers that are added to the response, whether the request succeeds or fails. */
    headers: Record<string, string>;
  },
) => Promise<z.output<R>>;

/** The declaration of an endpoint. `auth` decides what the handler receives. */
type Declared<P extends Part, Q extends Part, B extends Part, R extends Schema> = Description<P, Q, B, R> &
  (
    | { auth: "none"; permission?: never; role?: never; run: Run<Parsed<P, Q, B>, R> }
    | {
        auth: "key";
        /** The permission that the key needs; undefined for an endpoint that every key may call about itself. */
        permission?: Permission;
        role?: never;
        run: Run<{ principal: KeyPrincipal } & Parsed<P, Q, B>, R>;
      }
    | {
        auth: "ingest";
        /** A sentence that says which permission is needed in which case. */
        permission: string;
        role?: never;
        run: Run<
          {
            caller: { lookup: KeyLookup; address: string | undefined };
            /** Undefined if a part of the request is invalid; then `body` is the refusal. */
            params: Output<P> | undefined;
            query: Output<Q> | undefined;
            body: Verdict<Output<B>>;
          },
          R
        >;
      }
    | {
        auth: "user";
        permission?: never;
        /**
         * The least role in the workspace of the path's `slug`; undefined for routes without a workspace. It is checked
         * before the handler runs, and independently of the service's own check.
         */
        role?: WorkspaceRole;
        /** Whether the endpoint accepts deleted workspaces, which all others refuse. */
        ofDeleted?: boolean;
        /**
         * Makes the `ETag` of the response at less cost than `run`. It is called only for conditional requests and HEAD: a
         * request whose If-None-Match has the tag gets 304, and HEAD gets no body, both without calling `run`. `run` itself
         * sets the header `ETag` of its responses.
         */
        tag?: (context: { principal: UserPrincipal } & Parsed<P, Q, B>) => Promise<string>;
        run: Run<{ principal: UserPrincipal } & Parsed<P, Q, B>, R>;
      }
  );

/** The result of a conditional or HEAD request that is answered without a body. */
class Bodyless {
  constructor(readonly status: 200 | 304) {}
}

/** An endpoint without the types of its schemas: its description, and the function that answers a request. */
export type Endpoint = Description<Part, Part, Part, Schema> & {
  auth: Auth;
  permission?: string;
  role?: WorkspaceRole;
  answer: (request: Request, context: RouteContext, extra: Extra) => Promise<unknown>;
};

/** What the self-hosted server or Next passes with the request. `peer` is the socket's remote address. */
export type RouteContext = { params: Promise<Record<string, string | string[]>>; peer?: string | undefined };

export type Handler = (request: Request, context: RouteContext) => Promise<Response>;

/** The key under which a handler carries its endpoint's declaration, for the documentation. */
export const declaration = Symbol.for("outlay.endpoint");

/** Declares one endpoint of a route. The types of its handler follow from its schemas. */
export function endpoint<
  R extends Schema,
  P extends Part = undefined,
  Q extends Part = undefined,
  B extends Part = undefined,
>(declared: Declared<P, Q, B, R>): Endpoint {
  return {
    ...declared,
    answer: (request, context, extra) => answerRequest(declared, request, context, extra),
  };
}

/**
 * Turns the endpoints of one path into the handlers that a route file exports. Each parses the request by its schemas,
 * authenticates the caller, calls `run` and encodes the response. Methods without an endpoint answer 405.
 */
export function defineRoute(endpoints: Partial<Record<HttpMethod, Endpoint>>): RouteHandlers {
  const declared = methods.flatMap((method) => {
    const endpoint = endpoints[method];
    return endpoint ? [[method, serve(endpoint)] as const] : [];
  });
  return answerMethods(Object.fromEntries(declared));
}

/** A handler for each method: the exports of a route file. */
export type RouteHandlers = Record<HttpMethod | "OPTIONS", Handler>;

/**
 * Adds the missing handlers of a path: 405 for other methods, and OPTIONS, which lists the existing ones. Route files
 * export all of them, because the self-hosted server and Next answer a missing export differently.
 */
export function answerMethods(handlers: Partial<Record<HttpMethod, Handler>>): RouteHandlers {
  const allow = methods.filter((method) => handlers[method]).join(", ");
  const refuse = refuseMethod(allow);
  const listMethods: Handler = async () => new Response(null, { status: 204, headers: { Allow: allow } });
  const all = methods.map((method) => [method, handlers[method] ?? refuse] as const);
  return { ...(Object.fromEntries(all) as Record<HttpMethod, Handler>), OPTIONS: listMethods };
}

/** A handler that answers 405. @param allow the methods that the path has */
export function refuseMethod(allow: string): Handler {
  return async (request) => {
    const refusal = new ServiceError(
      "method_not_allowed",
      `${request.method} is not allowed here. Allowed: ${allow || "none"}.`,
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
        const body = await declared.answer(request, context, extra);
        if (body instanceof Bodyless) return bodylessResponse(body.status, requestId, extra.headers);
        if (body instanceof PreparedFile) return fileResponse(body, request, requestId, extra.headers);
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

/** Headers and cookies that are added to the response, whether the request succeeds or fails. */
type Extra = { headers: Record<string, string>; setCookies: string[] };

async function answerRequest<P extends Part, Q extends Part, B extends Part, R extends Schema>(
  declared: Declared<P, Q, B, R>,
  request: Request,
  context: RouteContext,
  { headers, setCookies }: Extra,
): Promise<z.output<R> | Bodyless> {
  const parse = (from?: Sender) => parseRequest(declared, request, context.params, from);
  if (declared.auth === "none") return declared.run({ request, headers, ...(await parse()) });
  const address = callerAddress(request, context.peer);
  if (declared.auth === "user") {
    const principal = await authenticateUser(request, address, setCookies);
    const parsed = await parse();
    if (declared.role)
      await requireDeclaredRole(principal, context, declared.role, declared.ofDeleted ?? false);
    const known = request.headers.get("if-none-match");
    if (declared.tag && (known !== null || request.method === "HEAD")) {
      headers.ETag = await declared.tag({ principal, ...parsed });
      if (isTagKnown(known, headers.ETag)) return new Bodyless(304);
      if (request.method === "HEAD") return new Bodyless(200);
    }
    return declared.run({ request, headers, principal, ...parsed });
  }
  const lookup = parseCredentials(request.headers.get("authorization"));
  passSpan(request, lookup);
  if (declared.auth === "ingest") {
    const caller = { lookup, address };
    let refusal: Error | undefined;
    let workspaceId = "";
    // Most bodies are short. Their key is looked up only once, in the transaction that records them.
    const require = async () => {
      const checked = await checkCaller(caller);
      Object.assign(headers, rateHeaders(checked.rate));
      refusal = checked.refusal;
      if (refusal) throw refusal;
      workspaceId = checked.workspaceId ?? "";
    };
    const turn = new Turn(request);
    const takeTurn = async () => {
      await turn.take(workspaceId).catch((error) => {
        refusal = error;
        throw error;
      });
    };
    try {
      const parsed = await parse({ require, takeTurn }).catch((error) => {
        if (error instanceof ServiceError && error !== refusal)
          return { body: error, query: undefined, params: undefined };
        throw error;
      });
      return await declared.run({ request, headers, caller, ...parsed });
    } finally {
      turn.end();
    }
  }
  const { outcome, rate } = await admitRead({
    lookup,
    address,
    ...(declared.permission && { permission: declared.permission }),
  });
  Object.assign(headers, rateHeaders(rate));
  const principal = accepted(outcome);
  passSpan(request, principal.claims);
  return declared.run({ request, headers, principal, ...(await parse()) });
}

/** Whether a header If-None-Match names a tag, by the weak comparison of RFC 9110. */
function isTagKnown(header: string | null, tag: string): boolean {
  const opaque = (each: string) => each.trim().replace(/^W\//, "");
  return header?.split(",").some((each) => ["*", opaque(tag)].includes(opaque(each))) ?? false;
}

/**
 * Refuses members below the role that an endpoint declares. `viewer` needs no check: every member has it, and row-level
 * security hides a workspace from everybody else.
 * @throws ServiceError not_found, mfa_required or permission_denied, as `requireMembership`
 */
async function requireDeclaredRole(
  { claims }: UserPrincipal,
  { params }: RouteContext,
  role: WorkspaceRole,
  ofDeleted: boolean,
): Promise<void> {
  if (role === "viewer") return;
  const { slug } = await params;
  if (typeof slug !== "string")
    throw new Error("The endpoint requires a role but has no workspace slug in its path.");
  const require = ofDeleted ? requireMembershipOfDeleted : requireMembership;
  await asUserReading(claims, async (client) => void (await require(client, claims, slug, role)));
}
