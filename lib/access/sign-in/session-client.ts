import type { CookieMethodsServer } from "@supabase/ssr";
import type { SupabaseClient, WebSocketLikeConstructor } from "@supabase/supabase-js";
import { supabaseProject } from "@/lib/env";
import { serviceAddress } from "@/lib/service-address";
import { handleLocalAuth } from "./local/handler";
import { askProject } from "./project-auth";

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
 *
 * The cookies are not changed if a refresh got no answer, or 429 or 5xx, because supabase-js drops the session after a 429.
 * @param address the caller's, where known: attempts are counted by it
 */
export async function createSessionClient(
  cookies: CookieMethodsServer,
  address?: string,
): Promise<SupabaseClient> {
  // Loaded when first needed: it is large, and a process's first responses rarely need it.
  const { createServerClient } = await import("@supabase/ssr");
  const project = supabaseProject();
  let keepsSession = false;
  const ask = async (...asked: ConstructorParameters<typeof Request>) => {
    const request = new Request(...asked);
    const isRefresh = new URL(request.url).searchParams.get("grant_type") === "refresh_token";
    keepsSession = isRefresh;
    const answer = await (project
      ? askProject(project, request, address)
      : handleLocalAuth(request, address));
    keepsSession = isRefresh && isNoVerdict(answer);
    return answer;
  };
  const key = project?.secretKey ?? project?.publishableKey ?? "local";
  return createServerClient(project?.url ?? serviceAddress(), key, {
    cookies: {
      getAll: (...names) => cookies.getAll(...names),
      setAll: (...changes) => (keepsSession ? undefined : cookies.setAll?.(...changes)),
      encode: "tokens-only",
    },
    cookieOptions: {
      name: sessionCookieName,
      httpOnly: true,
      sameSite: "lax",
      secure: serviceAddress().startsWith("https:"),
      path: "/",
    },
    global: { fetch: ask },
    // Supabase Auth has had recovery codes since September 2026; supabase-js still calls them experimental.
    auth: { experimental: { recoveryCodes: true } },
    realtime: { transport: noSocket },
  });
}

/** Whether a response says nothing about the session: a rate limit, a fault, or an HTML page of a proxy in front of the provider. */
function isNoVerdict({ status, headers }: Response): boolean {
  return status === 429 || status >= 500 || !headers.get("content-type")?.includes("json");
}
