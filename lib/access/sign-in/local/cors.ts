import { env } from "@/lib/env";
import { isLoopbackHost, serviceAddress } from "@/lib/service-address";

/** The request headers that a page may send, and the response headers that it may read: those of supabase-js. */
const allowedHeaders =
  "Accept, Apikey, Authorization, Content-Type, X-Client-Info, X-Client-IP, X-Supabase-Api-Version";
const exposedHeaders = "X-Supabase-Api-Version, X-Sb-Error-Code, Retry-After";

/**
 * Headers that let a page of another origin read a response. Allowed are this service's own origin, this machine, and
 * AUTH_ALLOWED_ORIGINS (`*`: any). These endpoints use no cookies, so a page can only send a token that it has. Other
 * origins get no headers, and their browsers refuse the call after the preflight.
 */
export function corsHeaders(origin: string | null): Record<string, string> {
  const vary = { Vary: "Origin" };
  if (origin === null || !mayCall(origin)) return vary;
  return {
    ...vary,
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Expose-Headers": exposedHeaders,
  };
}

/** Answers a CORS preflight. */
export function preflightAnswer(origin: string | null): Response {
  const cors = corsHeaders(origin);
  const allowed = "Access-Control-Allow-Origin" in cors && {
    "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
    "Access-Control-Allow-Headers": allowedHeaders,
    "Access-Control-Max-Age": "7200",
  };
  return new Response(null, { status: 204, headers: { ...cors, ...allowed } });
}

function mayCall(origin: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { AUTH_ALLOWED_ORIGINS: listed } = env();
  const url = new URL(origin);
  const isWeb = url.protocol === "http:" || url.protocol === "https:";
  if (isWeb && isLoopbackHost(url.hostname)) return true;
  if (listed.includes("*") || url.origin === new URL(serviceAddress()).origin) return true;
  return listed.some((entry) => entry.replace(/\/+$/, "").toLowerCase() === origin);
}
