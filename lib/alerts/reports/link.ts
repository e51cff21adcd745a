import { createHash, randomBytes } from "node:crypto";

/** A new secret for the unsubscribe link of a report: 43 characters of base64url. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

/** The hash under which the secret is kept. */
export function hashOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
