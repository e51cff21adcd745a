/**
 * The canonical form of a path with repeated slashes or a trailing slash; undefined if the path is canonical. Routes
 * and pages answer at the canonical path only, and other paths are redirected to it (308).
 * @param path a request's path with its query
 */
export function plainPath(path: string): string | undefined {
  const [, written = "", query = ""] = /^([^?#]*)(.*)$/s.exec(path) ?? [];
  const single = written.replace(/[\\/]+/g, "/");
  // A path with both is redirected twice, as by Next, which handles repeated slashes before it calls `proxy.ts`.
  if (single !== written) return single + query;
  return written.length > 1 && written.endsWith("/") ? written.slice(0, -1) + query : undefined;
}
