import { isLoopbackHost } from "@/lib/service-address";

/** Apps of which we know that they are called back under a scheme of their own. To the letter; there is no pattern. */
const appRedirects = ["cursor://anysphere.cursor-mcp/oauth/callback"];

const maxLength = 2048;

/** What an address may be written in (RFC 3986). Of the rest, what reads it first decides what it means: blanks, `\`. */
const writtenPlainly = /^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+$/;

/** Whether a client may be called back there at all: an https address, this machine, or an app that is known. */
export function isPossibleRedirect(redirect: string): boolean {
  if (appRedirects.includes(redirect)) return true;
  if (redirect.length > maxLength || !writtenPlainly.test(redirect) || !URL.canParse(redirect)) return false;
  const { protocol, hostname, username, password } = new URL(redirect);
  if (username !== "" || password !== "" || redirect.includes("#")) return false;
  return protocol === "https:" || (protocol === "http:" && isLoopbackHost(hostname));
}

/**
 * Whether `asked` is one of the client's redirects: the same to the letter. A program on the user's machine listens on
 * whichever port is free, so that there the port may differ, and nothing else: localhost stays another than 127.0.0.1.
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
  // The text and not the parsed URL, which would take `/a/../b` for `/b`.
  return redirect.replace(/^(http:\/\/(?:\[[^\]]*\]|[^/:?]*))(:\d*)?/i, "$1");
}

/** `redirect` with an answer on it. */
export function answerTo(redirect: string, answer: Record<string, string | null | undefined>): string {
  const url = new URL(redirect);
  for (const [name, value] of Object.entries(answer)) {
    if (typeof value === "string") url.searchParams.set(name, value);
  }
  return url.href;
}
