import type { Handler, HttpMethod } from "./define-route";

/** The handlers that a route file exports. A file without `defineRoute` may lack some. */
export type RouteModule = Partial<Record<HttpMethod, Handler>>;

/** A route file: its path in Next's notation (`/api/v1/projects/[slug]/spend`), and how to load it. */
export type RouteEntry = { path: string; load: () => Promise<RouteModule> };

/** Sorts paths for matching: literal segments before parameters, catch-alls last. */
export function bySpecificity(a: RouteEntry, b: RouteEntry): number {
  const weigh = ({ path }: RouteEntry) =>
    path.replace(/\[\.\.\.[^\]]+\]/g, "\uffff").replace(/\[[^\]]+\]/g, "\ufffe");
  return weigh(a) < weigh(b) ? -1 : 1;
}

/** Converts a path to the notation of OpenAPI (`{slug}`) or of the router (`:slug`, `*` for a catch-all). */
export function convertPath(path: string, parameter: (name: string) => string, catchAll = "*"): string {
  return path
    .replace(/\[\.\.\.[^\]]+\]/g, catchAll)
    .replace(/\[([^\]]+)\]/g, (_, name: string) => parameter(name));
}
