/** Where people go who have just signed in and were not on their way anywhere: their own workspace. */
export const homePath = "/workspaces";

/** A path of this service to go on to. Anything that could lead elsewhere becomes the way home. */
export function safePath(wanted: string | null | undefined): string {
  // Browsers take backslashes for slashes and drop tabs and line breaks: `/\evil.example` and `/\t/evil.example` leave.
  if (!wanted || !/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(wanted)) return homePath;
  // Resolved as the browser will resolve it: `/..//evil.example` becomes `//evil.example`, which leaves.
  const { pathname, search, hash } = new URL(wanted, "http://own.invalid");
  return pathname.startsWith("//") ? homePath : pathname + search + hash;
}

/** The address of a page that leads on to another afterwards. @param next as it came with the page before, if it did */
export function withNext(path: string, next: string | undefined): string {
  return next ? `${path}?next=${encodeURIComponent(next)}` : path;
}
