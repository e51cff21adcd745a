import { isLoopbackHost } from "@/lib/service-address";

/** Redirects to apps, which have a scheme of their own. Compared character by character, without patterns. */
const appRedirects = ["cursor://anysphere.cursor-mcp/oauth/callback"];

const maxLength = 2048;

/** The characters of an address (RFC 3986). Parsers differ in how they read others, such as spaces and `\`. */
const addressCharacters = /^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+$/;

/** Whether a redirect is allowed at all: an https address, this machine, or a known app. */
export function isPossibleRedirect(redirect: string): boolean {
  if (appRedirects.includes(redirect)) return true;
  if (redirect.length > maxLength || !addressCharacters.test(redirect) || !URL.canParse(redirect))
    return false;
  const { protocol, hostname, username, password } = new URL(redirect);
  if (username !== "" || password !== "" || redirect.includes("#")) return false;
  return protocol === "https:" || (protocol === "http:" && isLoopbackHost(hostname));
}

/**
 * Whether `asked` is one of the client's redirects, compared character by character. For a loopback address only the
 * port may differ, because a program on the user's machine listens on any free port (RFC 8252 section 7.3). localhost
 * and 127.0.0.1 are different.
 */
export function isRegisteredRedirect(registered: readonly string[], asked: string): boolean {
  if (!isPossibleRedirect(asked)) return false;
  const bare = withoutPort(asked);
  return registered.some((known) => known === asked || (bare !== undefined && bare === withoutPort(known)));
}

/** A loopback address without its port, undefined for any other address. */
function withoutPort(redirect: string): string | undefined {
  if (!URL.canParse(redirect)) return undefined;
  const { protocol, hostname } = new URL(redirect);
  if (protocol !== "http:" || !isLoopbackHost(hostname)) return undefined;
  // Edits the text: a parsed URL would turn `/a/../b` into `/b`.
  return redirect.replace(/^(http:\/\/(?:\[[^\]]*\]|[^/:?]*))(:\d*)?/i, "$1");
}

/** Adds the parameters of an answer to the query of `redirect`; omits those that are null or undefined. */
export function answerTo(redirect: string, answer: Record<string, string | null | undefined>): string {
  const url = new URL(redirect);
  for (const [name, value] of Object.entries(answer)) {
    if (typeof value === "string") url.searchParams.set(name, value);
  }
  return url.href;
}
