import { type NextRequest, NextResponse } from "next/server";
import { hasSessionCookie } from "@/lib/auth/request-session";
import { createSessionClient } from "@/lib/auth/session-client";
import { servedPath } from "@/lib/mcp/addresses";

/**
 * Keeps the session of whoever looks at pages fresh: a page that is being rendered can set no cookies any more. It
 * decides nothing. Each page, action and route asks by itself who is calling.
 *
 * Where Next stands alone, it also leads the agent tools' own host to their route, as our server does before Next.
 */
export async function proxy(request: NextRequest): Promise<NextResponse> {
  const { pathname } = request.nextUrl;
  const served = servedPath(request.headers.get("host") ?? undefined, pathname);
  if (served !== pathname) return NextResponse.rewrite(new URL(served, request.url));
  let response = NextResponse.next({ request });
  if (!hasSessionCookie(request)) return response;
  const client = await createSessionClient({
    getAll: () => request.cookies.getAll(),
    setAll: (cookies, headers) => {
      // On the request too: the page behind this must see the new session, not the one that is used up.
      for (const { name, value } of cookies) request.cookies.set(name, value);
      response = NextResponse.next({ request });
      for (const { name, value, options } of cookies) response.cookies.set(name, value, options);
      for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
    },
  });
  // Refreshes a session that is about to expire. An identity provider that is away leaves it as it was.
  await client.auth.getSession();
  return response;
}

export const config = {
  // Pages alone: not the API and the sign-in's own protocol, which see to themselves, nor files.
  matcher: ["/((?!api/|auth/|oauth/(?!authorize$)|\\.well-known/|_next/|callback$|.*\\.[a-z0-9]+$).*)"],
};
