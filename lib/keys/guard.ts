import type { Permission } from "@/lib/contract/permissions";
import { execute } from "@/lib/db/query";
import { asService, asServiceAlone, type KeyClaims } from "@/lib/db/transaction";
import { ServiceError } from "@/lib/errors";
import type { AccessToken, ApiKey, KeyLookup } from "./api-key";
import { invalidAccessToken, invalidCredentials } from "./credentials";
import { type Counted, decideAttempt, decideCall, type RateStatus } from "./decide";
import { noteUse } from "./note-use";
import { type Admission, loadAdmission, recordAdmissionsStatement } from "./queries";

/**
 * A caller whose key was admitted: the key, its claims for row-level security, and the access token with which it was
 * identified, if any.
 */
export type KeyPrincipal = { key: ApiKey; claims: KeyClaims; token: AccessToken | null };

/** A call to be admitted. `audiences`: the addresses that an access token may be for, if access tokens are accepted. */
export type KeyCall = {
  lookup: KeyLookup;
  address: string | undefined;
  permission?: Permission;
  audiences?: readonly string[];
};

/**
 * Admits a call that reads, or whose permissions are checked later. Counts it against the key's rate limit, if any.
 * @returns the principal or the refusal, and the state of the rate in both cases
 * @throws ServiceError unavailable
 */
export async function admitRead(call: KeyCall): Promise<Counted<KeyPrincipal>> {
  const lookups = [call.lookup];
  const first = await asServiceAlone((client) => loadAdmission(client, { lookups }));
  noteUse(first.keys.values(), first.now);
  const unlimited = judge(first, call);
  // Counting requires a lock on the key, and so a transaction, which is only needed for keys with a rate limit.
  if (!unlimited.rate) return unlimited;
  return asService(async (client) => {
    const admission = await loadAdmission(client, { lookups });
    const verdict = judge(admission, call);
    const loaded = admission.keys.get(call.lookup.value);
    if (loaded && verdict.counted) {
      await execute(client, recordAdmissionsStatement([{ loaded, admitted: 1 }], admission.now));
    }
    return verdict;
  });
}

/**
 * Checks whether a call's key may be used, before its long body is read. Counts nothing: the call is admitted and
 * counted later, with its body.
 * @throws ServiceError unavailable
 */
export async function checkCaller(
  call: KeyCall,
): Promise<{ refusal: ServiceError | undefined; rate: RateStatus | null }> {
  const admission = await asServiceAlone((client) => loadAdmission(client, { lookups: [call.lookup] }));
  const { outcome, rate } = judge(admission, call);
  return outcome instanceof ServiceError ? { refusal: outcome, rate } : { refusal: undefined, rate: null };
}

function judge(
  { keys, tokens, now }: Admission,
  call: KeyCall,
): Counted<KeyPrincipal> & { counted: boolean } {
  const refuse = (outcome: ServiceError) => ({ outcome, rate: null, counted: false });
  const loaded = keys.get(call.lookup.value);
  if (!loaded) return refuse(call.lookup.by === "token" ? invalidAccessToken() : invalidCredentials());
  const token = tokens.get(call.lookup.value) ?? null;
  if (token && !call.audiences?.includes(token.resource))
    return refuse(
      invalidAccessToken(`This access token is for ${token.resource}. Sign in for this address instead.`),
    );
  const { key, usage } = loaded;
  const { refusal, rate } = decideCall(key, usage, call.address, now);
  if (refusal) return { outcome: refusal, rate, counted: false };
  const denied = call.permission ? decideAttempt(key, { permissions: [call.permission] }) : null;
  return { outcome: denied ?? { key, claims: claimsOf(key), token }, rate, counted: rate !== null };
}

/** A key's claims for row-level security. Its own project has precedence over lists, an allow-list over a deny-list. */
function claimsOf(key: ApiKey): KeyClaims {
  const { project_slugs: allowed, deny_project_slugs: denied } = key.conditions;
  const allow = key.project ? [key.project.slug] : allowed?.length ? allowed : null;
  return {
    id: key.id,
    workspace_id: key.workspaceId,
    environment: key.environment,
    allow,
    deny: allow ? [] : (denied ?? []),
  };
}
