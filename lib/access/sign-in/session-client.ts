import type { CookieMethodsServer } from "@supabase/ssr";
import type { SupabaseClient, WebSocketLikeConstructor } from "@supabase/supabase-js";
import { supabaseProject } from "@/lib/env";
import { serviceAddress } from "@/lib/service-address";
import { handleLocalAuth } from "./local/handler";

/**
 * The session cookie's name. Fixed, because the default derives from the address: localhost and 127.0.0.1 would have
 * two sessions. Long sessions are split into `.0`, `.1` and so on.
 */
export const sessionCookieName = "outlay-session";

/** The client looks for a WebSocket when it is created, which Node 20 does not have; it never opens one. */
const noSocket = class {} as unknown as WebSocketLikeConstructor;

/**
 * The Supabase client of one request, which keeps the user's session in that request's cookies. Only its `auth` is
 * used: data goes over SQL, under row-level security.
 *
 * The cookies are httpOnly: no script of a page can read a session, not even an injected one. So there is no browser
 * client; forms post to server actions.
 * @param address the caller's, where known: the local sign-in counts attempts by it
 */
export async function createSessionClient(
  cookies: CookieMethodsServer,
  address?: string,
): Promise<SupabaseClient> {
  // Loaded on first use: it is large, and a process's first answers rarely need it.
  const { createServerClient } = await import("@supabase/ssr");
  const project = supabaseProject();
  return createServerClient(project?.url ?? serviceAddress(), project?.publishableKey ?? "local", {
    cookies: { ...cookies, encode: "tokens-only" },
    cookieOptions: {
      name: sessionCookieName,
      httpOnly: true,
      sameSite: "lax",
      secure: serviceAddress().startsWith("https:"),
      path: "/",
    },
    // The local sign-in is in this process, so no request is sent.
    global: project
      ? {}
      : { fetch: async (input, init) => handleLocalAuth(new Request(input, init), address) },
    // Recovery codes, which Supabase Auth has had since September 2026 and the client calls experimental.
    auth: { experimental: { recoveryCodes: true } },
    realtime: { transport: noSocket },
  });
}
