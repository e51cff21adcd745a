import { generateToken } from "./token";

/** The prefix of an OAuth access token. */
export const accessTokenPrefix = "svc_at_";

const shape = new RegExp(`^${accessTokenPrefix}[A-Za-z0-9_-]{43}$`);

/** A new access token with 256 random bits. It is sent once; only its `hashSecret` is stored. */
export function generateAccessToken(): string {
  return accessTokenPrefix + generateToken();
}

/** Whether a token has the form of an access token, so that a mistyped or truncated one costs no query. */
export function isWellFormedAccessToken(token: string): boolean {
  return shape.test(token);
}
