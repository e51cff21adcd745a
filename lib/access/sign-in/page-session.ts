import type { SupabaseClient } from "@supabase/supabase-js";
import { cookies, headers } from "next/headers";
import { cache } from "react";
import { callerAddress, recordSessionRead } from "@/lib/peer";
import { isLoopbackHost, serviceAddress } from "@/lib/service-address";
import { accessTokenOf } from "./request-session";
import { lacksSecondFactor } from "./second-factor";
import { createSessionClient, sessionCookieName } from "./session-client";
import { type UserClaims, verifyUserJwt } from "./verify-user-jwt";

/** How long a page waits for a refresh. proxy.ts has waited before, so a refreshed session needs no wait. */
const refreshLimitMs = 750;

/** The session of the page or server action that is being answered. */
export async function pageSession(): Promise<SupabaseClient> {
  recordSessionRead();
  const store = await cookies();
  return createSessionClient(
    {
      getAll: () => store.getAll(),
      setAll: (changes) => {
        try {
          for (const { name, value, options } of changes) store.set(name, value, options);
        } catch {
          // A page cannot set cookies while it renders. It need not: proxy.ts has refreshed the session.
        }
      },
    },
    await pageAddress(),
  );
}

/** Signs out of this browser, also where the identity provider does not answer. */
export async function endPageSession(): Promise<void> {
  const { auth } = await pageSession();
  await auth.signOut({ scope: "local" });
  const store = await cookies();
  for (const { name } of store.getAll()) if (name.startsWith(sessionCookieName)) store.delete(name);
}

/** The address of the page's user, where known. */
async function pageAddress(): Promise<string | undefined> {
  return callerAddress({ headers: await headers() }, undefined);
}

/**
 * The signed-in user of this page; undefined without one, and for a session that lacks its user's second factor.
 * Verified once per request. @throws ServiceError unavailable
 */
export const currentUser = cache(async (): Promise<UserClaims | undefined> => {
  const claims = await sessionUser();
  return claims && !(await lacksSecondFactor(claims)) ? claims : undefined;
});

/** The user of this session, whether or not it has proved the second factor. Only for the page that asks for one. */
export const sessionUser = cache(async (): Promise<UserClaims | undefined> => {
  const token = await accessTokenOf(await pageSession(), refreshLimitMs);
  if (!token) return undefined;
  try {
    return await verifyUserJwt(token, await pageAddress());
  } catch (error) {
    // An unreachable identity provider must not look like a sign-out.
    if (error instanceof Error && "status" in error && error.status === 401) return undefined;
    throw error;
  }
});

/**
 * The origin of links in mails: the service's own or, on this machine, the name that the browser uses. A session
 * belongs to a host name, and localhost differs from 127.0.0.1.
 */
export async function pageOrigin(): Promise<string> {
  const origin = (await headers()).get("origin");
  const isThisMachine = origin !== null && URL.canParse(origin) && isLoopbackHost(new URL(origin).hostname);
  return isThisMachine ? origin : serviceAddress();
}
