import { isIP } from "node:net";
import { addressQuota, hourMs, minuteMs } from "@/lib/access/throttle";
import type { SupabaseProject } from "@/lib/env";
import { countAttempt, countGuess } from "./local/limits";
import { AuthProtocolError, refusalAnswer } from "./local/protocol";

/** The attempts that one address has in a window: `alone` without the project's secret key, `forwarded` with it. */
type Limit = {
  action: Parameters<typeof countAttempt>[0];
  alone: number;
  forwarded: number;
  windowMs: number;
};

const window = 5 * minuteMs;
const signIns: Limit = { action: "sign-ins", alone: 20, forwarded: 100, windowMs: window };
const codes: Limit = { action: "codes tried", alone: 20, forwarded: 100, windowMs: window };
const mails: Limit = { action: "mails asked for", alone: 20, forwarded: 20, windowMs: hourMs };

/**
 * The limits of requests to the project that callers without a session can cause. For each address, Supabase Auth admits thirty
 * requests at once and 150 in five minutes, sign-ins and refreshes together, and a few tens of mails an hour for the whole project.
 * Without the secret key, it sees this service's address for all callers.
 */
const limits: Record<string, Limit> = {
  "token password": signIns,
  "token refresh_token": { action: "sessions renewed", alone: 60, forwarded: 150, windowMs: window },
  "token pkce": codes,
  verify: codes,
  "factors verify": codes,
  signup: mails,
  otp: mails,
  recover: mails,
  resend: mails,
};

/**
 * Sends a request to a Supabase project's Auth server. Attempts are counted before they are sent, by the caller's address, and
 * wrong passwords also by the account, so that one caller cannot use up the project's limits for all. With a secret key, the
 * caller's address is forwarded, and the project counts by it if "IP address forwarding" is on in its settings.
 * @param address the caller's, where known
 * @returns the project's answer, or ours: 429 in the same format
 */
export async function askProject(
  project: SupabaseProject,
  request: Request,
  address: string | undefined,
): Promise<Response> {
  const endpoint = endpointOf(request);
  try {
    const limit = limits[endpoint];
    if (limit) {
      const allowed = project.secretKey ? limit.forwarded : limit.alone;
      await countAttempt(limit.action, addressQuota(address, allowed, limit.windowMs));
    }
    const email = endpoint === "token password" ? await emailOf(request) : undefined;
    const forget = email === undefined ? undefined : await countGuess("wrong passwords", email);
    if (project.secretKey && address && isIP(address)) request.headers.set("Sb-Forwarded-For", address);
    const answer = await fetch(request);
    if (answer.ok) await forget?.();
    return answer.ok && endpoint === "token pkce" ? await withoutProviderTokens(answer) : answer;
  } catch (error) {
    if (error instanceof AuthProtocolError) return refusalAnswer(error);
    throw error;
  }
}

/**
 * Removes the tokens of a sign-in provider, such as GitHub's, from an answer: the service never uses them, and the session's
 * cookies would contain them.
 */
async function withoutProviderTokens(answer: Response): Promise<Response> {
  const { provider_token: _, provider_refresh_token: __, ...session } = await answer.json();
  const headers = new Headers(answer.headers);
  for (const name of ["content-length", "content-encoding"]) headers.delete(name);
  return Response.json(session, { status: answer.status, headers });
}

/** The endpoint of a request as a key of `limits`: `token password`, `factors verify`, `otp` … */
function endpointOf(request: Request): string {
  const { pathname, searchParams } = new URL(request.url);
  const [first = "", ...rest] = pathname.slice(pathname.indexOf("/auth/v1/") + "/auth/v1/".length).split("/");
  const last = rest.at(-1) ?? searchParams.get("grant_type");
  return last === null ? first : `${first} ${last}`;
}

async function emailOf(request: Request): Promise<string | undefined> {
  const { email } = (await request.clone().json()) as { email?: unknown };
  return typeof email === "string" ? email.trim().toLowerCase() : undefined;
}
