import { createHash, timingSafeEqual } from "node:crypto";

/** The token of an `Authorization: Bearer …` header, or undefined where there is none. */
export function bearerToken(authorization: string | null): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
}

/** Whether two secrets are the same, in a time that tells nothing of either, their lengths included. */
export function isSameSecret(a: string, b: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
