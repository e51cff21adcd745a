/** The page after a sign-in without `next`: it redirects to the user's workspace. */
export const homePath = "/workspaces";

/** Limits the next page to a path of this service. Anything that could lead elsewhere becomes the home path. */
export function safePath(wanted: string | null | undefined): string {
  // Browsers read backslashes as slashes and drop tabs and line breaks, so `/\evil.example` and `/\t/evil.example` lead
  // to another site.
  if (!wanted || !/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(wanted)) return homePath;
  // Resolves as the browser does: `/..//evil.example` becomes `//evil.example`, which leads to another site.
  const { pathname, search, hash } = new URL(wanted, "http://own.invalid");
  return pathname.startsWith("//") ? homePath : pathname + search + hash;
}

/** Adds `next` to a page's path, if there is one. */
export function withNext(path: string, next: string | undefined): string {
  return next ? `${path}?next=${encodeURIComponent(next)}` : path;
}
