import { setTimeout as wait } from "node:timers/promises";
import type { SupabaseClient } from "@supabase/supabase-js";
import { providerUnavailable } from "./provider-unavailable";
import { createSessionClient, sessionCookieName } from "./session-client";

/** A request's session, and the Set-Cookie lines that its response must carry. */
export type RequestSession = { client: SupabaseClient; setCookies: string[] };

/**
 * The session in a request's cookies, for handlers that receive a web `Request` rather than run inside Next.
 * @param address the caller's, where known
 */
export async function sessionOf(request: Request, address?: string): Promise<RequestSession> {
  const { parseCookieHeader, serializeCookieHeader } = await import("@supabase/ssr");
  const setCookies: string[] = [];
  const client = await createSessionClient(
    {
      getAll: () =>
        parseCookieHeader(request.headers.get("cookie") ?? "").map(({ name, value = "" }) => ({
          name,
          value,
        })),
      setAll: (cookies) => {
        for (const { name, value, options } of cookies)
          setCookies.push(serializeCookieHeader(name, value, options));
      },
    },
    address,
  );
  return { client, setCookies };
}

const sessionCookie = new RegExp(`(?:^|; *)${sessionCookieName}(?:\\.0)?=`);

/** Whether a request has a session cookie, valid or not. */
export function hasSessionCookie(request: Request): boolean {
  return sessionCookie.test(request.headers.get("cookie") ?? "");
}

/** How long a refresh may delay a response. supabase-js retries an unreachable provider for half a minute. */
const refreshLimitMs = 3_500;

/** The errors of supabase-js for a response that did not arrive or could not be read. */
const transient = ["AuthRetryableFetchError", "AuthUnknownError"];

/**
 * The access token of a session, not verified. It is refreshed first if it is about to expire.
 * @param limitMs how long to wait for the refresh
 * @returns undefined without a session, or when it has ended
 * @throws ServiceError unavailable if the identity provider cannot be reached, so that nobody is signed out
 */
export async function accessTokenOf(
  client: SupabaseClient,
  limitMs: number = refreshLimitMs,
): Promise<string | undefined> {
  const limit = new AbortController();
  const tooLate = wait(limitMs, undefined, { signal: limit.signal, ref: false }).catch(() => undefined);
  const answer = await Promise.race([client.auth.getSession(), tooLate]);
  limit.abort();
  if (!answer) throw providerUnavailable(new Error(`A session was not refreshed within ${limitMs} ms.`));
  const { data, error } = answer;
  // The refresh got no answer, or 429 or 5xx; see `createSessionClient`.
  if (error && (transient.includes(error.name) || error.status === 429)) throw providerUnavailable(error);
  return data.session?.access_token;
}
