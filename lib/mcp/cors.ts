/** The headers that a page may send to the agent tools, and those of the answer that it may read. */
const allowedHeaders =
  "Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID";
const exposedHeaders =
  "WWW-Authenticate, Mcp-Session-Id, X-Request-Id, RateLimit, RateLimit-Policy, Retry-After";

/** The CORS headers of every answer to a page of an allowed origin. Cookies are never credentials here. */
export function corsHeaders(origin: string | null): Record<string, string> {
  if (origin === null) return {};
  return {
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Expose-Headers": exposedHeaders,
    Vary: "Origin",
  };
}

/** The answer to a CORS preflight request. */
export function preflightResponse(origin: string | null): Response {
  return new Response(null, {
    status: 204,
    headers: {
      ...corsHeaders(origin),
      Allow: "POST, OPTIONS",
      "Access-Control-Allow-Methods": "POST",
      "Access-Control-Allow-Headers": allowedHeaders,
      "Access-Control-Max-Age": "7200",
    },
  });
}
