import { supabaseProject } from "@/lib/env";
import { ServiceError } from "@/lib/errors";
import { reportFailure } from "@/lib/log";
import { changeUser, readUser, signOut } from "./account";
import { corsHeaders, preflightAnswer } from "./cors";
import { factorEndpoints } from "./factors";
import { reauthenticate, recover, resend, sendOtp } from "./mails";
import { AuthProtocolError, jsonAnswer, refusalAnswer } from "./protocol";
import { recoveryCodeEndpoints } from "./recovery-codes";
import { type Answer, originOf } from "./session";
import { inSessionTurn } from "./session-turns";
import { grantToken, signUp } from "./sign-in";
import { signingKey } from "./signing-key";
import { followLink, verify } from "./verify";

/** The path of the local sign-in; the Supabase clients append it to the service's address. */
const mountPath = "/auth/v1/";

/**
 * The endpoints of the Supabase Auth protocol, by path and method: those that supabase-js and @supabase/ssr use for what is
 * offered. `:name` matches one segment.
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
  ...recoveryCodeEndpoints,
  ...factorEndpoints,
  health: { GET: async () => jsonAnswer({ name: "outlay", description: "The local sign-in of Outlay" }) },
  ".well-known/jwks.json": { GET: readKeys },
};

/**
 * Answers a request to the local sign-in. With a Supabase project configured, all its paths answer 404.
 * @param peer the caller's address, stored with the session
 */
export async function handleLocalAuth(request: Request, peer?: string): Promise<Response> {
  const origin = request.headers.get("origin");
  if (request.method === "OPTIONS" && !supabaseProject()) return preflightAnswer(origin);
  const answer = await answerRequest(request, peer);
  for (const [name, value] of Object.entries(corsHeaders(origin))) answer.headers.set(name, value);
  return answer;
}

async function answerRequest(request: Request, peer: string | undefined): Promise<Response> {
  try {
    const { answer, params } = findEndpoint(request);
    return await inSessionTurn(request, () => answer(request, originOf(request, peer), params));
  } catch (error) {
    return refusalAnswer(request, error instanceof AuthProtocolError ? error : failureOf(error));
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
  throw new AuthProtocolError(404, "not_found", "There is nothing here.");
}

/**
 * Matches a path with a pattern, in which `:name` matches any one segment.
 * @returns the value of each `:name`; undefined where the path does not match
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
