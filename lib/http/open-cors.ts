/**
 * What lets pages of any origin call an endpoint that takes no cookies: MCP clients that run in browsers read metadata,
 * register and fetch tokens from their own origins. Never on a route that a cookie opens.
 */
export const openCors = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": "WWW-Authenticate, Retry-After, X-Request-Id",
};

/** Answers a browser that asks whether a page of another origin may call. */
export async function openPreflight(): Promise<Response> {
  return new Response(null, {
    status: 204,
    headers: {
      ...openCors,
      "Access-Control-Allow-Methods": "GET, POST, OPTIONS",
      "Access-Control-Allow-Headers": "Authorization, Content-Type, Accept, MCP-Protocol-Version",
      "Access-Control-Max-Age": "7200",
    },
  });
}
