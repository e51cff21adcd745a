import { bearerToken, challenge, isSameSecret } from "@/lib/access/credentials";
import { accessTokenPrefix, isWellFormedAccessToken } from "@/lib/access/secrets/access-token";
import { hashSecret, isWellFormedSecret } from "@/lib/access/secrets/secret";
import { env } from "@/lib/env";
import { ServiceError } from "@/lib/errors";
import type { KeyLookup } from "./api-key";
import { environmentKeyId } from "./environment-key";

/** The 401 for a secret that does not belong to a key, or no longer does. */
export function invalidCredentials(): ServiceError {
  return new ServiceError(
    "invalid_credentials",
    "This API key is not known. Check for a typing error, or whether it was rotated.",
    {},
    challenge,
  );
}

/** The 401 for an access token that is unknown, expired or for another service. */
export function invalidAccessToken(
  description = "This access token is not known or has expired. Refresh it, or sign in again.",
): ServiceError {
  return new ServiceError("invalid_credentials", description, {}, challenge);
}

/**
 * Parses the API key in an Authorization header, without querying the database.
 * @param accessTokens whether OAuth access tokens are accepted: only by the agent tools' endpoint
 * @throws ServiceError missing_credentials, or invalid_credentials for text that cannot be a key
 */
export function parseCredentials(
  authorization: string | null,
  { accessTokens = false }: { accessTokens?: boolean } = {},
): KeyLookup {
  const token = bearerToken(authorization);
  if (token === undefined) {
    throw new ServiceError(
      "missing_credentials",
      "Send an API key in the Authorization header: `Authorization: Bearer svc_live_…`.",
      {},
      challenge,
    );
  }
  if (isEnvironmentKey(token)) return { by: "id", value: environmentKeyId };
  if (token.startsWith(accessTokenPrefix)) return parseAccessToken(token, accessTokens);
  if (!isWellFormedSecret(token)) throw invalidCredentials();
  return { by: "hash", value: hashSecret(token) };
}

function parseAccessToken(token: string, taken: boolean): KeyLookup {
  if (!taken) {
    const wanted =
      "An OAuth access token is accepted only by the agent tools' endpoint. Send an API key here: `Authorization: Bearer svc_live_…`.";
    throw invalidAccessToken(wanted);
  }
  if (!isWellFormedAccessToken(token)) throw invalidAccessToken();
  return { by: "token", value: hashSecret(token) };
}

/** Whether the token is SVC_API_KEY, if that is set and may be used. */
function isEnvironmentKey(token: string): boolean {
  const { SVC_API_KEY, SVC_ALLOW_ENV_API_KEY, NODE_ENV } = env();
  if (SVC_API_KEY === undefined || (NODE_ENV === "production" && !SVC_ALLOW_ENV_API_KEY)) return false;
  return isSameSecret(token, SVC_API_KEY);
}
