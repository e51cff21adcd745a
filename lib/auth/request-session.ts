import type { SupabaseClient } from "@supabase/supabase-js";
import { providerUnavailable } from "./provider-unavailable";
import { createSessionClient, sessionCookieName } from "./session-client";

/** The session that came with a request, and the Set-Cookie lines its answer must carry. */
export type RequestSession = { client: SupabaseClient; setCookies: string[] };

/**
 * The session in a request's cookies, for handlers that work on web requests rather than inside Next.
 * @param address the caller's, where it is known
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

/** Whether a request brings a session cookie at all, valid or not. */
export function hasSessionCookie(request: Request): boolean {
  return sessionCookie.test(request.headers.get("cookie") ?? "");
}

/**
 * The access token of a session. It is refreshed first where it is about to expire, and is as yet unverified.
 * @returns undefined where there is no session, or it is over
 * @throws ServiceError unavailable where the identity provider could not be asked: nobody is signed out for that
 */
export async function accessTokenOf(client: SupabaseClient): Promise<string | undefined> {
  const { data, error } = await client.auth.getSession();
  if (error?.name === "AuthRetryableFetchError") throw providerUnavailable(error);
  return data.session?.access_token;
}
