import { generateToken } from "./token";

/** What an OAuth access token begins with (specification 5.2). */
export const accessTokenPrefix = "svc_at_";

const shape = new RegExp(`^${accessTokenPrefix}[A-Za-z0-9_-]{43}$`);

/** A new access token, 256 random bits. Handed out once; what is kept is its `hashSecret`. */
export function generateAccessToken(): string {
  return accessTokenPrefix + generateToken();
}

/** Whether this can be an access token at all. One that was cut or mistyped costs no query. */
export function isWellFormedAccessToken(token: string): boolean {
  return shape.test(token);
}
