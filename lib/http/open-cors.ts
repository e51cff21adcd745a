/**
 * Headers that let pages of any origin call an endpoint. MCP clients in browsers read metadata, register and fetch
 * tokens from their own origins. Never used on a route that accepts a cookie.
 */
export const openCors = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": "WWW-Authenticate, Retry-After, X-Request-Id",
};

/** Answers a CORS preflight. */
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
