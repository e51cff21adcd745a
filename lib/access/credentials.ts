import { createHash, timingSafeEqual } from "node:crypto";

/** The `WWW-Authenticate` of every 401. */
export const challenge = { "WWW-Authenticate": 'Bearer realm="outlay"' };

/** The token of an `Authorization: Bearer …` header, or undefined if there is none. */
export function bearerToken(authorization: string | null): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
}

/** Compares two secrets in constant time, which reveals neither their content nor their length. */
export function isSameSecret(a: string, b: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
