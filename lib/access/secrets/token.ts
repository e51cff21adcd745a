import { randomBytes } from "node:crypto";

/** A random token of 256 bits in base64url, for links, codes and nonces. Only its `hashSecret` is stored. */
export function generateToken(): string {
  return randomBytes(32).toString("base64url");
}
