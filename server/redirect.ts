/**
 * The one address of what an address names, where it is written with repeated slashes or a closing one; undefined where it
 * is that address. Next redirects to it (308) before any route; so does our server, for routes and pages alike.
 * @param path a request's path with its query
 */
export function plainPath(path: string): string | undefined {
  const [, written = "", query = ""] = /^([^?#]*)(.*)$/s.exec(path) ?? [];
  const single = written.replace(/[\\/]+/g, "/");
  // As in Next, what has both is redirected twice.
  if (single !== written) return single + query;
  return written.length > 1 && written.endsWith("/") ? written.slice(0, -1) + query : undefined;
}
