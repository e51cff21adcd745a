import { supabaseProject } from "@/lib/env";
import { log } from "@/lib/log";
import { changeUser, readUser, signOut } from "./account";
import { followLink, recover, resend, sendOtp, verify } from "./email-links";
import { AuthProtocolError, jsonAnswer, refusalAnswer } from "./protocol";
import { type Origin, originOf } from "./session";
import { grantToken, signUp } from "./sign-in";
import { signingKey } from "./signing-key";

/** @param params what stands in the path for each `:name` of the endpoint's pattern */
type Answer = (request: Request, origin: Origin, params: Record<string, string>) => Promise<Response>;

/** Where the local sign-in is mounted; the Supabase clients append it to the address they are given. */
const mountPath = "/auth/v1/";

/** The part of the Supabase Auth HTTP protocol that supabase-js and @supabase/ssr use, by path and method; `:name` stands for one segment. */
const endpoints: Record<string, Record<string, Answer>> = {
  signup: { POST: signUp },
  token: { POST: grantToken },
  user: { GET: readUser, PUT: changeUser },
  logout: { POST: signOut },
  recover: { POST: recover },
  otp: { POST: sendOtp },
  resend: { POST: resend },
  verify: { POST: verify, GET: followLink },
  health: { GET: async () => jsonAnswer({ name: "outlay", description: "The local sign-in of Outlay" }) },
  ".well-known/jwks.json": {
    GET: async () => {
      const { publicJwk } = await signingKey();
      return jsonAnswer({ keys: [publicJwk] }, 200, { "Cache-Control": "public, max-age=600" });
    },
  },
};

/**
 * Answers a request to the local sign-in. Beside a Supabase project it does not exist.
 * @param peer the caller's address, kept with the session
 */
export async function handleLocalAuth(request: Request, peer?: string): Promise<Response> {
  try {
    const { answer, params } = findEndpoint(request);
    return await answer(request, originOf(request, peer), params);
  } catch (error) {
    if (error instanceof AuthProtocolError) return refusalAnswer(request, error);
    // A 5xx means "try again" to the clients: they keep the session they have.
    log.error({ err: error }, "A request to the local sign-in failed.");
    const message = "Something went wrong on our side. Try again shortly.";
    return refusalAnswer(request, new AuthProtocolError(500, "unexpected_failure", message));
  }
}

function findEndpoint(request: Request): { answer: Answer; params: Record<string, string> } {
  const { pathname } = new URL(request.url);
  const path = pathname.slice(pathname.indexOf(mountPath) + mountPath.length).replace(/\/+$/, "");
  for (const [pattern, methods] of Object.entries(supabaseProject() ? {} : endpoints)) {
    const params = matchPath(pattern, path);
    if (!params) continue;
    const answer = new Map(Object.entries(methods)).get(request.method === "HEAD" ? "GET" : request.method);
    if (answer) return { answer, params };
    const allow = Object.keys(methods).join(", ");
    const message = `${request.method} is not possible here; ${allow} is.`;
    throw new AuthProtocolError(405, "method_not_allowed", message, {}, { Allow: allow });
  }
  throw new AuthProtocolError(404, "not_found", "There is nothing here.");
}

/** @returns what stands for each `:name`; undefined where the path is another */
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
