import { metadataAddress, toolsResources } from "@/lib/access/oauth/addresses";
import { toolScopes, withReading } from "@/lib/access/oauth/scopes";
import { type Permission, permissions } from "@/lib/contract/access/permissions";
import { ServiceError } from "@/lib/errors";
import type { KeyLookup } from "@/lib/keys/api-key";
import { parseCredentials } from "@/lib/keys/credentials";
import type { Counted } from "@/lib/keys/decide";
import { admitRead } from "@/lib/keys/guard";
import type { KeyPrincipal } from "@/lib/keys/identify";

/**
 * Parses the API key or access token in an Authorization header, without querying the database.
 * @param resource the endpoint's address for this caller (`resourceAt(host)`), which a refusal contains
 * @throws ServiceError missing_credentials or invalid_credentials, with the `WWW-Authenticate` that makes a client sign in
 */
export function parseToolCredentials(authorization: string | null, resource: string): KeyLookup {
  try {
    return parseCredentials(authorization, { accessTokens: true });
  } catch (error) {
    throw error instanceof ServiceError ? inviteSignIn(error, resource) : error;
  }
}

/**
 * Admits a request to the agent tools' endpoint, and counts it once against its key's rate. Permissions are checked
 * later, on `principal.key` with `decideAttempt`.
 * @param call.resource as for `parseToolCredentials`
 * @returns the principal, or the refusal with the `WWW-Authenticate` that makes a client sign in; and the state of the
 *   rate in both cases
 * @throws ServiceError unavailable
 */
export async function admitToolCall(call: {
  lookup: KeyLookup;
  address: string | undefined;
  resource: string;
}): Promise<Counted<KeyPrincipal>> {
  const { lookup, address, resource } = call;
  const { outcome, rate } = await admitRead({ lookup, address, audiences: toolsResources() });
  return { outcome: outcome instanceof ServiceError ? inviteSignIn(outcome, resource) : outcome, rate };
}

/**
 * The 403 of an access token that lacks a permission. Its challenge lists every scope to request, including those that
 * the token has. Only for access tokens: the client of an API key would start a sign-in that does not change the key.
 */
export function insufficientScope({ key }: KeyPrincipal, needed: Permission, resource: string): ServiceError {
  const wanted = permissions.filter((each) => each === needed || key.permissions.includes(each));
  const description = `This connection lacks the permission ${needed}. Ask the user to connect again and allow it.`;
  return new ServiceError(
    "permission_denied",
    description,
    { permission: needed },
    {
      "WWW-Authenticate": writeChallenge({
        error: "insufficient_scope",
        error_description: description,
        scope: withReading(wanted).join(" "),
        resource_metadata: metadataAddress(resource),
      }),
    },
  );
}

/** Adds the `WWW-Authenticate` of RFC 9728 section 5.1 to a 401; leaves other refusals unchanged. */
export function inviteSignIn(refusal: ServiceError, resource: string): ServiceError {
  if (refusal.status !== 401) return refusal;
  const { code, message, fields, headers } = refusal;
  const challenge = writeChallenge({
    ...(code !== "missing_credentials" && { error: "invalid_token", error_description: message }),
    scope: toolScopes.join(" "),
    resource_metadata: metadataAddress(resource),
  });
  return new ServiceError(code, message, fields, { ...headers, "WWW-Authenticate": challenge });
}

function writeChallenge(parameters: Record<string, string>): string {
  const written = Object.entries({ realm: "outlay", ...parameters }).map(
    // Headers are ASCII, and a key's own text could be anything.
    ([name, value]) => `${name}="${value.replace(/["\\]/g, "'").replace(/[^\x20-\x7e]/g, "?")}"`,
  );
  return `Bearer ${written.join(", ")}`;
}
