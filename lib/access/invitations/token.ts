import { createHash, randomBytes } from "node:crypto";

/** What makes a link of an invitation unguessable: 256 random bits, fit for a URL. */
export function makeInvitationToken(): string {
  return randomBytes(32).toString("base64url");
}

/** What is stored of a token, in hex. As random as it is, it needs no salt. */
export function hashInvitationToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
