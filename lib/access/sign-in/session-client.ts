import type { CookieMethodsServer } from "@supabase/ssr";
import type { SupabaseClient, WebSocketLikeConstructor } from "@supabase/supabase-js";
import { supabaseProject } from "@/lib/env";
import { serviceAddress } from "@/lib/service-address";
import { handleLocalAuth } from "./local/handler";

/**
 * The session cookie's name. It is fixed, because the default contains the host: localhost and 127.0.0.1 would have
 * two sessions. Long sessions are split into `.0`, `.1` and so on.
 */
export const sessionCookieName = "outlay-session";

/** The client requires a WebSocket class, which Node 20 lacks, and never opens one. */
const noSocket = class {} as unknown as WebSocketLikeConstructor;

/**
 * The Supabase client of one request, which keeps the user's session in the request's cookies. Only its `auth` is used:
 * data is read by SQL, under row-level security.
 *
 * The cookies are httpOnly, so no script of a page can read a session. There is no Supabase client in the browser: forms
 * post to server actions.
 * @param address the caller's, where known: the local sign-in counts attempts by it
 */
export async function createSessionClient(
  cookies: CookieMethodsServer,
  address?: string,
): Promise<SupabaseClient> {
  // Loaded when first needed: it is large, and a process's first responses rarely need it.
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
    // Supabase Auth has had recovery codes since September 2026; supabase-js still calls them experimental.
    auth: { experimental: { recoveryCodes: true } },
    realtime: { transport: noSocket },
  });
}
