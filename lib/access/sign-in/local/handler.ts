import { env, supabaseProject } from "@/lib/env";
import { ServiceError } from "@/lib/errors";
import { reportFailure } from "@/lib/log";
import { isLoopbackHost, serviceAddress } from "@/lib/service-address";
import { signingKey } from "./access-token";
import { changeUser, readUser, signUp } from "./accounts";
import { factorEndpoints } from "./factors";
import { followLink, reauthenticate, recover, resend, sendOtp, verify } from "./mails";
import { AuthProtocolError, jsonAnswer, refusalAnswer } from "./protocol";
import { inSessionTurn } from "./queues";
import { type Answer, originOf } from "./request";
import { grantToken, signOut } from "./sessions";

/** The path of the local sign-in; the Supabase clients append it to the service's address. */
const mountPath = "/auth/v1/";

/**
 * The implemented endpoints of the Supabase Auth protocol, by path and method, as pages and scripts with supabase-js call them.
 * `:name` matches one segment.
 */
const endpoints: Record<string, Record<string, Answer>> = {
  signup: { POST: signUp },
  token: { POST: grantToken },
  user: { GET: readUser, PUT: changeUser },
  logout: { POST: signOut },
  recover: { POST: recover },
  otp: { POST: sendOtp },
  resend: { POST: resend },
  reauthenticate: { GET: reauthenticate },
  verify: { POST: verify, GET: followLink },
  ...factorEndpoints,
  ".well-known/jwks.json": { GET: readKeys },
};

/**
 * Answers a request to the local sign-in. With a Supabase project configured, all its paths answer 404.
 * @param peer the caller's address, stored with the session
 */
export async function handleLocalAuth(request: Request, peer?: string): Promise<Response> {
  const isPreflight = request.method === "OPTIONS" && !supabaseProject();
  const answer = isPreflight ? new Response(null, { status: 204 }) : await answerRequest(request, peer);
  for (const [name, value] of Object.entries(corsHeaders(request.headers.get("origin"), isPreflight)))
    answer.headers.set(name, value);
  return answer;
}

async function answerRequest(request: Request, peer: string | undefined): Promise<Response> {
  try {
    const { answer, params } = findEndpoint(request);
    return await inSessionTurn(request, () => answer(request, originOf(request, peer), params));
  } catch (error) {
    return refusalAnswer(error instanceof AuthProtocolError ? error : failureOf(error));
  }
}

/** Encodes an unexpected error. A 5xx means "try again" to the clients: they keep their session. */
function failureOf(error: unknown): AuthProtocolError {
  reportFailure(error, "A request to the local sign-in failed.");
  if (error instanceof ServiceError && error.code === "unavailable") {
    const message = "The database cannot be reached at the moment. Try again shortly.";
    return new AuthProtocolError(503, "unexpected_failure", message, {}, error.headers);
  }
  const message = "Something went wrong on our side. Try again shortly.";
  return new AuthProtocolError(500, "unexpected_failure", message);
}

function findEndpoint(request: Request): { answer: Answer; params: Record<string, string> } {
  const { pathname } = new URL(request.url);
  const path = pathname.slice(pathname.indexOf(mountPath) + mountPath.length).replace(/\/+$/, "");
  for (const [pattern, methods] of Object.entries(supabaseProject() ? {} : endpoints)) {
    const params = matchPath(pattern, path);
    if (!params) continue;
    const answer = new Map(Object.entries(methods)).get(request.method);
    if (answer) return { answer, params };
    const allow = Object.keys(methods).join(", ");
    const message = `${request.method} is not allowed here. Allowed: ${allow}.`;
    throw new AuthProtocolError(405, "method_not_allowed", message, {}, { Allow: allow });
  }
  throw new AuthProtocolError(404, "not_found", "The local sign-in has no such endpoint.");
}

/**
 * Matches a path with a pattern, in which `:name` matches any one segment.
 * @returns the value of each `:name`; undefined if the path does not match
 */
function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const [wanted, given] = [pattern.split("/"), path.split("/")];
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, segment] of wanted.entries()) {
    const value = given[index] ?? "";
    if (segment.startsWith(":") && value !== "") params[segment.slice(1)] = value;
    else if (segment !== value) return undefined;
  }
  return params;
}

/** GET .well-known/jwks.json: the keys that verify access tokens. */
async function readKeys(): Promise<Response> {
  const { publicJwk } = await signingKey();
  return jsonAnswer({ keys: [publicJwk] }, 200, { "Cache-Control": "public, max-age=600" });
}

/**
 * Headers that let a page of another origin call and read the answer. Allowed are this service's own origin, this machine,
 * and AUTH_ALLOWED_ORIGINS (`*`: any). These endpoints use no cookies, so a page can only send a token that it has. Other
 * origins get no headers, and their browsers refuse the call after the preflight.
 */
function corsHeaders(origin: string | null, isPreflight: boolean): Record<string, string> {
  const vary = { Vary: "Origin" };
  if (origin === null || !mayCall(origin)) return vary;
  const allowed = { ...vary, "Access-Control-Allow-Origin": origin };
  if (!isPreflight)
    return { ...allowed, "Access-Control-Expose-Headers": "X-Supabase-Api-Version, Retry-After" };
  return {
    ...allowed,
    "Access-Control-Allow-Methods": "GET, POST, PUT, DELETE",
    "Access-Control-Allow-Headers":
      "Accept, Apikey, Authorization, Content-Type, X-Client-Info, X-Supabase-Api-Version",
    "Access-Control-Max-Age": "7200",
  };
}

function mayCall(origin: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { AUTH_ALLOWED_ORIGINS: listed } = env();
  const url = new URL(origin);
  const isWeb = url.protocol === "http:" || url.protocol === "https:";
  if (isWeb && isLoopbackHost(url.hostname)) return true;
  if (listed.includes("*") || url.origin === new URL(serviceAddress()).origin) return true;
  return listed.some((entry) => entry.replace(/\/+$/, "").toLowerCase() === origin);
}
