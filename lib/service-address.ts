import { type Env, env } from "./env";

// The self-hosted server and the Next bundle in the same process each have a copy of this module, so the address is
// kept on `globalThis`.
const globals = globalThis as { [key: symbol]: { listening?: string } | undefined };
const slot = Symbol.for("outlay.address");
globals[slot] ??= {};
const shared = globals[slot];

/** Sets the address that this process listens on, for a service without a configured public address. */
export function announceAddress(address: string): void {
  shared.listening = address;
}

/**
 * The service's public URL without a trailing slash: BASE_URL, otherwise that of the deployment on Vercel, otherwise the one at which it
 * listens. Never from a request's Host header, which the caller chooses.
 */
export function serviceAddress(settings: Env = env()): string {
  const { BASE_URL, VERCEL, VERCEL_ENV, VERCEL_PROJECT_PRODUCTION_URL, VERCEL_URL, PORT } = settings;
  if (BASE_URL) return BASE_URL.replace(/\/+$/, "");
  const deployment = VERCEL_ENV === "production" ? (VERCEL_PROJECT_PRODUCTION_URL ?? VERCEL_URL) : VERCEL_URL;
  if (VERCEL && deployment) return `https://${deployment}`;
  return shared.listening ?? `http://localhost:${PORT}`;
}

/** The origins of the service in its settings: its own address, MCP_URL's, and the deployment's on Vercel. */
export function serviceOrigins(settings: Env = env()): string[] {
  const { MCP_URL, VERCEL_URL, VERCEL_BRANCH_URL, VERCEL_PROJECT_PRODUCTION_URL } = settings;
  const deployments = [VERCEL_URL, VERCEL_BRANCH_URL, VERCEL_PROJECT_PRODUCTION_URL].flatMap((name) =>
    name ? [`https://${name}`] : [],
  );
  return [serviceAddress(settings), ...(MCP_URL ? [MCP_URL] : []), ...deployments].map(
    (address) => new URL(address).origin,
  );
}

/** Whether a host is this machine. @param host as in `new URL(…).hostname` */
export function isLoopbackHost(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(host);
}
