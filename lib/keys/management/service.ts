import type { PoolClient } from "pg";
import type { z } from "zod";
import { accountQuota, addressQuota, hourMs, throttle } from "@/lib/access/throttle";
import { requireMembership } from "@/lib/access/workspaces/membership";
import type {
  apiKey,
  apiKeyList,
  apiKeyWithSecret,
  CreateApiKeyRequest,
  EditApiKeyRequest,
} from "@/lib/contract/api-keys";
import type { Membership } from "@/lib/contract/me";
import { monthOf } from "@/lib/contract/month";
import { permissionsOf } from "@/lib/contract/permissions";
import { asServiceWithin, asUser, asUserReading, type UserClaims } from "@/lib/db/transaction";
import { notFound, ServiceError } from "@/lib/errors";
import { generateSecret, hashSecret, secretHint } from "@/lib/keys/secret";
import { readChanges } from "./check";
import { insertKey, type KeyRow, lockKey, replaceSecret, revokeKey, selectKeys, updateKey } from "./queries";
import { mayManage, toApiKey } from "./to-api-key";

type Key = z.output<typeof apiKey>;
type KeyWithSecret = z.output<typeof apiKeyWithSecret>;

/** How many secrets one person may be given in an hour, and one address. */
const maxSecretsAnHour = { account: 60, address: 240 };

/** A workspace's keys with what each has spent this UTC month, for its members. @throws ServiceError not_found */
export function listApiKeys(claims: UserClaims, slug: string): Promise<z.output<typeof apiKeyList>> {
  return asUserReading(claims, async (client, now) => {
    const membership = await requireMembership(client, claims, slug);
    const rows = await selectKeys(client, membership.id, monthOf(now).from);
    return {
      api_keys: rows.map((row) => toApiKey(row, { membership, claims, now })),
      can_create: membership.role !== "viewer",
      grantable_permissions: [...permissionsOf(membership.role)],
    };
  });
}

/**
 * Makes a key. Its secret is in the answer and nowhere else.
 * @throws ServiceError not_found, permission_denied to viewers, validation_failed by field, rate_limited
 */
export async function createApiKey(
  claims: UserClaims,
  slug: string,
  { environment, ...request }: CreateApiKeyRequest,
): Promise<KeyWithSecret> {
  await throttleSecrets(claims);
  return asUser(claims, async (client, now) => {
    const membership = await requireMembership(client, claims, slug, "member");
    const asker = { workspaceId: membership.id, role: membership.role, now };
    const id = await insertKey(client, {
      ...unrestricted,
      name: request.name,
      permissions: request.permissions,
      ...(await readChanges(client, asker, request, {})),
      workspace_id: membership.id,
      environment,
    });
    const secret = await issueSecret(client, id);
    return { ...(await loadKey(client, { membership, claims, now }, id)), secret };
  });
}

/** What a key has where its maker says nothing. */
const unrestricted = {
  project_id: null,
  conditions: {},
  monthly_limit: null,
  expires_at: null,
  rate_limit_rpm: null,
  allowed_cidrs: [],
};

/**
 * Changes what a request names of a key, for the very next request made with it.
 * @throws ServiceError not_found, permission_denied, conflict where it is revoked, validation_failed by field
 */
export function editApiKey(
  claims: UserClaims,
  slug: string,
  id: string,
  request: EditApiKeyRequest,
): Promise<Key> {
  return asUser(claims, async (client, now) => {
    const { membership, row } = await holdLiveKey(client, { claims, now }, slug, id);
    const asker = { workspaceId: membership.id, role: membership.role, now };
    await updateKey(client, membership.id, id, await readChanges(client, asker, request, row.conditions));
    return loadKey(client, { membership, claims, now }, id);
  });
}

/**
 * Replaces a key's secret: the one before is refused by every process from the commit on. Everything else stays.
 * @throws ServiceError not_found, permission_denied, conflict where it is revoked, rate_limited
 */
export async function rotateApiKey(claims: UserClaims, slug: string, id: string): Promise<KeyWithSecret> {
  await throttleSecrets(claims);
  return asUser(claims, async (client, now) => {
    const { membership } = await holdLiveKey(client, { claims, now }, slug, id);
    const secret = await issueSecret(client, id);
    return { ...(await loadKey(client, { membership, claims, now }, id)), secret };
  });
}

/**
 * Revokes a key for good; every process refuses it from the commit on. One that is revoked stays as it is.
 * @throws ServiceError not_found, permission_denied
 */
export function revokeApiKey(claims: UserClaims, slug: string, id: string): Promise<Key> {
  return asUser(claims, async (client, now) => {
    const { membership, isRevoked } = await holdKey(client, { claims, now }, slug, id);
    if (!isRevoked) await revokeKey(client, membership.id, id);
    return loadKey(client, { membership, claims, now }, id);
  });
}

async function throttleSecrets({ sub, caller_address: address }: UserClaims): Promise<void> {
  await throttle("new secrets of API keys", [
    ...accountQuota(sub, maxSecretsAnHour.account, hourMs),
    ...addressQuota(address, maxSecretsAnHour.address, hourMs),
  ]);
}

/** Only the service writes secrets; the user's own right to the key was asked for before. */
async function issueSecret(client: PoolClient, id: string): Promise<string> {
  const secret = generateSecret();
  await asServiceWithin(client, () =>
    replaceSecret(client, id, { hash: hashSecret(secret), ...secretHint(secret) }),
  );
  return secret;
}

/**
 * A key that the user may manage, held until the transaction ends.
 * @returns with `isRevoked` where it was revoked, and is not held
 * @throws ServiceError not_found, permission_denied
 */
async function holdKey(
  client: PoolClient,
  { claims, now }: { claims: UserClaims; now: number },
  slug: string,
  id: string,
): Promise<{ membership: Membership; row: KeyRow; isRevoked: boolean }> {
  const membership = await requireMembership(client, claims, slug, "member");
  // Locked before it is read: what is changed of it goes on from what it is, not from what it was.
  const isHeld = await lockKey(client, membership.id, id);
  const [row] = await selectKeys(client, membership.id, monthOf(now).from, id);
  if (!row) throw notFound();
  if (mayManage(row, { membership, claims })) return { membership, row, isRevoked: !isHeld };
  throw new ServiceError(
    "permission_denied",
    row.kind === "environment"
      ? "This is the key of the service's SVC_API_KEY; it cannot be changed here."
      : "Members manage the keys they made; ask an admin, or whoever made this one.",
    { role: membership.role },
  );
}

/** @throws ServiceError not_found, permission_denied, conflict where the key is revoked */
async function holdLiveKey(...which: Parameters<typeof holdKey>) {
  const { isRevoked, ...held } = await holdKey(...which);
  if (isRevoked) throw new ServiceError("conflict", "This API key is revoked, for good. Make a new one.");
  return held;
}

async function loadKey(
  client: PoolClient,
  viewer: { membership: Membership; claims: UserClaims; now: number },
  id: string,
): Promise<Key> {
  const [row] = await selectKeys(client, viewer.membership.id, monthOf(viewer.now).from, id);
  if (!row) throw notFound();
  return toApiKey(row, viewer);
}
