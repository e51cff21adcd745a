import { type Env, env } from "@/lib/env";

/** The service's own public address, without a trailing slash: as set, else the deployment's, else this machine's. */
export function serviceAddress(settings: Env = env()): string {
  if (settings.BASE_URL) return settings.BASE_URL.replace(/\/+$/, "");
  if (settings.VERCEL && settings.VERCEL_URL) return `https://${settings.VERCEL_URL}`;
  return `http://localhost:${settings.PORT}`;
}
