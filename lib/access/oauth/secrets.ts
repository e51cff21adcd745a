import { createHash } from "node:crypto";
import { generateToken } from "@/lib/keys/token";

/** A new refresh token. Handed out once; what is kept is its hash. */
export function generateRefreshToken(): string {
  return `svc_rt_${generateToken()}`;
}

/** The challenge that a PKCE verifier meets (RFC 7636, S256). */
export function challengeOf(verifier: string): string {
  return createHash("sha256").update(verifier).digest("base64url");
}
