import { env } from "@/lib/env";
import { isLoopbackHost, serviceAddress } from "@/lib/service-address";

/** Schemes that browsers execute or open themselves. No setting can allow them. */
const refusedSchemes = ["javascript:", "data:", "vbscript:", "blob:", "file:", "about:"];

/**
 * Limits the target of a link in a mail to this service, another program on this machine (in development), and
 * AUTH_REDIRECT_URLS. Any other target becomes this service's address, as Supabase Auth does with its site URL.
 */
export function allowedRedirect(wanted: string | null, patterns: string[] = env().AUTH_REDIRECT_URLS): URL {
  const own = new URL(serviceAddress());
  if (!wanted || !URL.canParse(wanted)) return own;
  const url = new URL(wanted);
  const isWeb = url.protocol === "http:" || url.protocol === "https:";
  if (isWeb && (url.origin === own.origin || isLoopbackHost(url.hostname))) return url;
  if (refusedSchemes.includes(url.protocol) || url.username || url.password) return own;
  // Compares the parsed address, because the browser follows that one: `https://a\@b` leads to `a`.
  const [address = ""] = url.href.split("#", 1);
  const isListed = patterns.some((pattern) => {
    const expression = compile(pattern);
    return expression.test(address) || (address.endsWith("/") && expression.test(address.slice(0, -1)));
  });
  return isListed ? url : own;
}

/**
 * Converts a pattern of AUTH_REDIRECT_URLS to a regular expression. `*` matches any characters except `.` and `/`, `**`
 * any characters, `?` one character except `.` and `/`, `[abc]` one of a set, `[!abc]` one outside it; a backslash makes
 * the next character literal.
 */
function compile(pattern: string): RegExp {
  const tokens = pattern.match(/\\.|\*+|\[!?[^\]]+\]|[\s\S]/g) ?? [];
  const translated = tokens.map((token) => {
    if (token === "*") return "[^./]*";
    if (token.startsWith("*")) return ".*";
    if (token === "?") return "[^./]";
    if (/^\[.+\]$/.test(token)) {
      const inverted = token.startsWith("[!");
      const members = token.slice(inverted ? 2 : 1, -1).replace(/[\\\]^]/g, "\\$&");
      return `[${inverted ? "^" : ""}${members}]`;
    }
    return token.replace(/^\\(?=.)/, "").replace(/[$()*+.?[\\\]^{|}/-]/g, "\\$&");
  });
  return new RegExp(`^${translated.join("")}$`);
}
