import { randomBytes } from "node:crypto";

/** 256 random bits, fit for a URL: a link's token, a code, a nonce. What is kept of it is its `hashSecret`. */
export function generateToken(): string {
  return randomBytes(32).toString("base64url");
}
