/** The page after a sign-in that named no other: the user's workspace. */
export const homePath = "/workspaces";

/** Returns a path of this service to go to next. Anything that could lead elsewhere becomes the home path. */
export function safePath(wanted: string | null | undefined): string {
  // Browsers read backslashes as slashes and drop tabs and line breaks: `/\evil.example` and `/\t/evil.example` lead
  // elsewhere.
  if (!wanted || !/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(wanted)) return homePath;
  // Resolved as the browser will resolve it: `/..//evil.example` becomes `//evil.example`, which leads elsewhere.
  const { pathname, search, hash } = new URL(wanted, "http://own.invalid");
  return pathname.startsWith("//") ? homePath : pathname + search + hash;
}

/** The address of a page that leads to another afterwards. @param next from the previous page, if given */
export function withNext(path: string, next: string | undefined): string {
  return next ? `${path}?next=${encodeURIComponent(next)}` : path;
}
