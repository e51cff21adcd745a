import { createHash, timingSafeEqual } from "node:crypto";
import { ServiceError } from "@/lib/errors";

/** The `WWW-Authenticate` of every 401. */
export const challenge = { "WWW-Authenticate": 'Bearer realm="outlay"' };

/** The token of an `Authorization: Bearer …` header, or undefined where there is none. */
export function bearerToken(authorization: string | null): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
}

/** Compares two secrets in constant time, which reveals neither their content nor their length. */
export function isSameSecret(a: string, b: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

/**
 * Refuses a request that does not send the secret of a setting.
 * @param wanted the setting's value. @param setting its name, for the error text
 * @throws ServiceError missing_credentials, invalid_credentials
 */
export function requireSettingSecret(authorization: string | null, wanted: string, setting: string): void {
  const token = bearerToken(authorization);
  if (token === undefined) {
    const remedy = `Send \`Authorization: Bearer $${setting}\`.`;
    throw new ServiceError("missing_credentials", remedy, {}, challenge);
  }
  if (isSameSecret(token, wanted)) return;
  throw new ServiceError("invalid_credentials", `This is not the service's ${setting}.`, {}, challenge);
}
