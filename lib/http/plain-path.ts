/**
 * The one address of what an address names, where it is written with repeated slashes or a closing one; undefined where it
 * is that address. Routes and pages are answered at it alone; everything else is redirected to it (308).
 * @param path a request's path with its query
 */
export function plainPath(path: string): string | undefined {
  const [, written = "", query = ""] = /^([^?#]*)(.*)$/s.exec(path) ?? [];
  const single = written.replace(/[\\/]+/g, "/");
  // What has both is redirected twice, as by Next, which sees to repeated slashes before it asks `proxy.ts`.
  if (single !== written) return single + query;
  return written.length > 1 && written.endsWith("/") ? written.slice(0, -1) + query : undefined;
}
