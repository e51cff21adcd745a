/** What a page may send, and read of the answer, when it calls the agent tools (MCP's Inspector, for one). */
const allowedHeaders =
  "Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID";
const exposedHeaders =
  "WWW-Authenticate, Mcp-Session-Id, X-Request-Id, RateLimit, RateLimit-Policy, Retry-After";

/** The CORS headers of every answer to a page from an allowed origin. Credentials are never cookies here. */
export function corsHeaders(origin: string | null): Record<string, string> {
  if (origin === null) return {};
  return {
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Expose-Headers": exposedHeaders,
    Vary: "Origin",
  };
}

/** The answer to a browser that asks whether it may send what a page wants to. */
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
