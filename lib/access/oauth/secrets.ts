import { createHash } from "node:crypto";
import { generateToken } from "@/lib/keys/token";

/** A new refresh token. Only its hash is stored. */
export function generateRefreshToken(): string {
  return `svc_rt_${generateToken()}`;
}

/** The PKCE challenge of a verifier (RFC 7636 section 4.2, S256). */
export function challengeOf(verifier: string): string {
  return createHash("sha256").update(verifier).digest("base64url");
}
