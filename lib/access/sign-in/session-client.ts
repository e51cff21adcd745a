import type { CookieMethodsServer } from "@supabase/ssr";
import type { SupabaseClient, WebSocketLikeConstructor } from "@supabase/supabase-js";
import { supabaseProject } from "@/lib/env";
import { serviceAddress } from "@/lib/service-address";
import { handleLocalAuth } from "./local/handler";

/**
 * The session cookie's name. Fixed, because the default derives from the address: localhost and 127.0.0.1 would be two
 * sessions. Long sessions are cut into `.0`, `.1` and so on.
 */
export const sessionCookieName = "outlay-session";

/** The client wants a WebSocket when it is made, which Node 20 has not; it never opens one. */
const noSocket = class {} as unknown as WebSocketLikeConstructor;

/**
 * The Supabase client of one request, which keeps the user's session in that request's cookies. Only its `auth` is
 * used: data goes over SQL, under row-level security.
 *
 * The cookies are httpOnly: no script of a page can read a session, one that was injected neither. There is no browser
 * client therefore; forms post to server actions.
 * @param address the caller's, where it is known: the local sign-in counts attempts by it
 */
export async function createSessionClient(
  cookies: CookieMethodsServer,
  address?: string,
): Promise<SupabaseClient> {
  // Loaded at its first use: most processes' first answers need none of it, and it is large.
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
    // The local sign-in is in this process: the service sends no request to itself.
    global: project
      ? {}
      : { fetch: async (input, init) => handleLocalAuth(new Request(input, init), address) },
    // Recovery codes, which Supabase Auth has had since September 2026 and the client calls experimental.
    auth: { experimental: { recoveryCodes: true } },
    realtime: { transport: noSocket },
  });
}
