import type { SupabaseClient } from "@supabase/supabase-js";
import { cookies, headers } from "next/headers";
import { cache } from "react";
import { callerAddress } from "@/lib/http/peer";
import { isLoopbackHost, serviceAddress } from "@/lib/service-address";
import { accessTokenOf } from "./request-session";
import { lacksSecondFactor } from "./second-factor";
import { createSessionClient } from "./session-client";
import { type UserClaims, verifyUserJwt } from "./verify-user-jwt";

/** How long a page waits for a refresh: proxy.ts waited before it, and a session that it refreshed needs none. */
const refreshLimitMs = 750;

/** The session of the page, or the server action, that is being answered. */
export async function pageSession(): Promise<SupabaseClient> {
  const store = await cookies();
  return createSessionClient(
    {
      getAll: () => store.getAll(),
      setAll: (changes) => {
        try {
          for (const { name, value, options } of changes) store.set(name, value, options);
        } catch {
          // A page that is being rendered cannot set cookies, and need not: proxy.ts refreshed the session before it.
        }
      },
    },
    await pageAddress(),
  );
}

/** A session that no cookie keeps: what is signed in with it leaves the page's own session as it is. */
export async function sessionInMemory(): Promise<SupabaseClient> {
  const kept = new Map<string, string>();
  const cookies = {
    getAll: () => [...kept].map(([name, value]) => ({ name, value })),
    setAll: (changes: { name: string; value: string }[]) => {
      for (const { name, value } of changes) kept.set(name, value);
    },
  };
  return createSessionClient(cookies, await pageAddress());
}

/** The address of whoever looks at this page, where it is known. */
async function pageAddress(): Promise<string | undefined> {
  return callerAddress({ headers: await headers() }, undefined);
}

/**
 * Who is looking at this page; undefined for nobody, and for a session that has a second factor still to prove. Verified once
 * a request.
 */
export const currentUser = cache(async (): Promise<UserClaims | undefined> => {
  const claims = await sessionUser();
  return claims && !(await lacksSecondFactor(claims)) ? claims : undefined;
});

/** Whose session this is, whether or not they have proved their second factor: for the page that asks for it alone. */
export const sessionUser = cache(async (): Promise<UserClaims | undefined> => {
  const token = await accessTokenOf(await pageSession(), refreshLimitMs);
  if (!token) return undefined;
  try {
    return await verifyUserJwt(token, await pageAddress());
  } catch (error) {
    // An identity provider that is away is an outage and not a sign-out.
    if (error instanceof Error && "status" in error && error.status === 401) return undefined;
    throw error;
  }
});

/**
 * The origin that links in mails bring people back to: the service's own, or, on this machine, the name of it that the
 * browser uses. A session belongs to a host name, and localhost is another than 127.0.0.1.
 */
export async function pageOrigin(): Promise<string> {
  const origin = (await headers()).get("origin");
  const isThisMachine = origin !== null && URL.canParse(origin) && isLoopbackHost(new URL(origin).hostname);
  return isThisMachine ? origin : serviceAddress();
}
