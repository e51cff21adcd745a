/** A redirect that is not cached and sends no referrer. A relative target keeps the browser on the host name of its session. */
export function redirectTo(target: string, setCookies: string[] = []): Response {
  const headers = new Headers({
    Location: target,
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
  });
  for (const cookie of setCookies) headers.append("Set-Cookie", cookie);
  return new Response(null, { status: 303, headers });
}
