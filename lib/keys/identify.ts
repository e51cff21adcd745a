import type { KeyClaims } from "@/lib/db/transaction";
import type { Verdict } from "@/lib/errors";
import type { Admission, LoadedKey } from "./admission-queries";
import type { AccessToken, ApiKey, KeyLookup } from "./api-key";
import { invalidAccessToken, invalidCredentials } from "./credentials";

/**
 * Finds the caller's key among the loaded ones, with the access token that identified it, if any. Refuses unknown credentials, and access
 * tokens for another resource.
 * @param caller.audiences the resources for which an access token may be issued, if access tokens are accepted
 */
export function identify(
  { keys, tokens }: Admission,
  { lookup, audiences }: { lookup: KeyLookup; audiences?: readonly string[] | undefined },
): Verdict<{ loaded: LoadedKey; token: AccessToken | null }> {
  const loaded = keys.get(lookup.value);
  if (!loaded) return lookup.by === "token" ? invalidAccessToken() : invalidCredentials();
  const token = tokens.get(lookup.value) ?? null;
  if (!token || audiences?.includes(token.resource)) return { loaded, token };
  return invalidAccessToken(`This access token is for ${token.resource}. Sign in for this address instead.`);
}

/**
 * A caller whose key was admitted: the key, its claims for row-level security, and the access token with which it was
 * identified, if any.
 */
export type KeyPrincipal = { key: ApiKey; claims: KeyClaims; token: AccessToken | null };

/** The principal of an admitted key. The key's own project has precedence over its lists, an allow-list over a deny-list. */
export function toPrincipal(key: ApiKey, token: AccessToken | null): KeyPrincipal {
  const { project_slugs: allowed, deny_project_slugs: denied, users } = key.conditions;
  const allow = key.project ? [key.project.slug] : allowed?.length ? allowed : null;
  const claims = {
    id: key.id,
    workspace_id: key.workspaceId,
    environment: key.environment,
    allow,
    deny: allow ? [] : (denied ?? []),
    ...(users?.length && { users }),
  };
  return { key, claims, token };
}
