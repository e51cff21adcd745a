import { createHash, randomBytes } from "node:crypto";

/** 256 random bits in base64url: a nonce or a code. */
export function generateNonce(): string {
  return randomBytes(32).toString("base64url");
}

/** A new refresh token. Handed out once; what is kept is its hash. */
export function generateRefreshToken(): string {
  return `svc_rt_${generateNonce()}`;
}

/** The challenge that a PKCE verifier meets (RFC 7636, S256). */
export function challengeOf(verifier: string): string {
  return createHash("sha256").update(verifier).digest("base64url");
}
