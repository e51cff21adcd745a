import type { PoolClient } from "pg";
import type { z } from "zod";
import { generateSecret, hashSecret, secretHint } from "@/lib/access/secrets/secret";
import { accountQuota, addressQuota, hourMs, throttle } from "@/lib/access/throttle";
import { requireMembership } from "@/lib/access/workspaces/membership";
import type {
  apiKey,
  apiKeyList,
  apiKeyWithSecret,
  CreateApiKeyRequest,
  EditApiKeyRequest,
} from "@/lib/contract/access/api-keys";
import type { Membership } from "@/lib/contract/access/me";
import { keyPermissionsOf } from "@/lib/contract/access/permissions";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { monthOf } from "@/lib/contract/values/month";
import { asServiceWithin, asUser, asUserReading, type UserClaims } from "@/lib/db/transaction";
import { notFound, ServiceError } from "@/lib/errors";
import { readChanges } from "./check";
import {
  insertKey,
  type KeyRow,
  lockKey,
  replaceSecret,
  revokeKey,
  selectKeys,
  selectSpendingKey,
  updateKey,
} from "./key-queries";
import { mayManage, toApiKey } from "./to-api-key";

type Key = z.output<typeof apiKey>;
type KeyWithSecret = z.output<typeof apiKeyWithSecret>;

/** How many secrets are issued per hour at most, by account and by IP address. */
const maxSecretsAnHour = { account: 60, address: 240 };

/** Lists a workspace's keys with their spend of this UTC month, for its members. @throws ServiceError not_found */
export function listApiKeys(claims: UserClaims, slug: string): Promise<z.output<typeof apiKeyList>> {
  return asUserReading(claims, async (client, now) => {
    const membership = await requireMembership(client, claims, slug);
    const rows = await selectKeys(client, membership.id, monthOf(now).from);
    return {
      api_keys: rows.map((row) => toApiKey(row, { membership, claims, now })),
      can_create: membership.role !== "viewer",
      grantable_permissions: [...keyPermissionsOf(membership.role)],
    };
  });
}

/**
 * Reads the name, the present monthly limit and the spend in this UTC month of a key of any kind, also of a connection and of the key under which
 * a member records by hand. For members. @throws ServiceError not_found
 */
export function readSpendingKey(
  claims: UserClaims,
  slug: string,
  id: string,
): Promise<{ name: string; limit: ExactNumber | null; spent: ExactNumber }> {
  return asUserReading(claims, async (client, now) => {
    const membership = await requireMembership(client, claims, slug);
    const [key] = await selectSpendingKey(client, membership.id, monthOf(now).from, id);
    if (!key) throw notFound();
    const { name, limit, spent } = key;
    return {
      name,
      limit: limit === null ? null : new ExactNumber(limit),
      spent: new ExactNumber(spent),
    };
  });
}

/**
 * Creates a key. Only this response has its secret.
 * @throws ServiceError not_found, permission_denied for viewers, validation_failed by field, rate_limited
 */
export async function createApiKey(
  claims: UserClaims,
  slug: string,
  request: CreateApiKeyRequest,
): Promise<KeyWithSecret> {
  await throttleSecrets(claims);
  return asUser(claims, async (client, now) => {
    const membership = await requireMembership(client, claims, slug, "member");
    const { id, secret } = await makeKey(client, { membership, now }, request);
    return { ...(await loadKey(client, { membership, claims, now }, id)), secret };
  });
}

/**
 * Creates a key in the transaction of a user, who must be a member at least. Call `throttleSecrets` before.
 * @throws ServiceError validation_failed by field
 */
export async function makeKey(
  client: PoolClient,
  { membership, now }: { membership: Membership; now: number },
  { environment, ...request }: CreateApiKeyRequest,
): Promise<{ id: string; secret: string }> {
  const asker = { workspaceId: membership.id, role: membership.role, now };
  const id = await insertKey(client, {
    ...unrestricted,
    name: request.name,
    permissions: request.permissions,
    ...(await readChanges(client, asker, request, { conditions: {}, source: null })),
    workspace_id: membership.id,
    environment,
  });
  return { id, secret: await issueSecret(client, id) };
}

/** The defaults for columns that a request does not set. */
const unrestricted = {
  project_id: null,
  conditions: {},
  monthly_limit: null,
  on_limit: "refuse" as const,
  expires_at: null,
  rate_limit_rpm: null,
  allowed_cidrs: [],
  source_settings: null,
};

/**
 * Changes the given fields of a key. The changes apply to the next request made with the key.
 * @throws ServiceError not_found, permission_denied, conflict if the key is revoked, validation_failed by field
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
    const current = { conditions: row.conditions, source: row.source_settings };
    await updateKey(client, membership.id, id, await readChanges(client, asker, request, current));
    return loadKey(client, { membership, claims, now }, id);
  });
}

/**
 * Rotates a key's secret: from the commit on, every process refuses the previous one. Nothing else changes.
 * @throws ServiceError not_found, permission_denied, conflict if the key is revoked, rate_limited
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
 * Revokes a key for good: from the commit on, every process refuses it. A revoked key stays unchanged.
 * @throws ServiceError not_found, permission_denied
 */
export function revokeApiKey(claims: UserClaims, slug: string, id: string): Promise<Key> {
  return asUser(claims, async (client, now) => {
    const { membership, isRevoked } = await holdKey(client, { claims, now }, slug, id);
    if (!isRevoked) await revokeKey(client, membership.id, id);
    return loadKey(client, { membership, claims, now }, id);
  });
}

/** Counts a new secret against the quotas of its account and address. @throws ServiceError rate_limited */
export async function throttleSecrets({ sub, caller_address: address }: UserClaims): Promise<void> {
  await throttle("new secrets of API keys", [
    ...accountQuota(sub, maxSecretsAnHour.account, hourMs),
    ...addressQuota(address, maxSecretsAnHour.address, hourMs),
  ]);
}

/** Issues a new secret. Only the service may write secrets, so the user's right to the key was checked before. */
async function issueSecret(client: PoolClient, id: string): Promise<string> {
  const secret = generateSecret();
  await asServiceWithin(client, () =>
    replaceSecret(client, id, { hash: hashSecret(secret), ...secretHint(secret) }),
  );
  return secret;
}

/**
 * Locks a key that the user may manage until the transaction ends. A revoked key is not locked.
 * @returns the key; `isRevoked`: whether it was revoked
 * @throws ServiceError not_found, permission_denied
 */
async function holdKey(
  client: PoolClient,
  { claims, now }: { claims: UserClaims; now: number },
  slug: string,
  id: string,
): Promise<{ membership: Membership; row: KeyRow; isRevoked: boolean }> {
  const membership = await requireMembership(client, claims, slug, "member");
  // Locks the key before it is read, so that two changes at once are applied one after the other.
  const isHeld = await lockKey(client, membership.id, id);
  const [row] = await selectKeys(client, membership.id, monthOf(now).from, id);
  if (!row) throw notFound();
  if (mayManage(row, { membership, claims })) return { membership, row, isRevoked: !isHeld };
  throw new ServiceError(
    "permission_denied",
    row.kind === "environment"
      ? "This is the key of the service's SVC_API_KEY; it cannot be changed here."
      : "Members can manage only the keys that they made. Ask an admin, or the member who made this key.",
    { role: membership.role },
  );
}

/** Like `holdKey`. @throws ServiceError also conflict if the key is revoked */
async function holdLiveKey(...which: Parameters<typeof holdKey>) {
  const { isRevoked, ...held } = await holdKey(...which);
  if (isRevoked)
    throw new ServiceError("conflict", "This API key was revoked and cannot be changed. Make a new one.");
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
