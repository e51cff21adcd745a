import type { ClientBase } from "pg";
import type { Permission } from "@/lib/contract/permissions";
import type { KeyConditions } from "@/lib/keys/api-key";

/** What of a key people decide; `monthly_limit` is exact text, `expires_at` an instant. */
export type KeyColumns = {
  name: string;
  permissions: Permission[];
  project_id: string | null;
  conditions: KeyConditions;
  monthly_limit: string | null;
  expires_at: string | null;
  rate_limit_rpm: number | null;
  allowed_cidrs: string[];
};

/** A key as stored, with its project, its maker and what it recorded this month (USD, exact text). */
export type KeyRow = Omit<KeyColumns, "expires_at"> & {
  id: string;
  kind: "key" | "environment";
  prefix: string;
  last_four: string;
  project: { slug: string; name: string } | null;
  spent: string;
  expires_at: Date | null;
  environment: "live" | "test";
  revoked_at: Date | null;
  rotated_at: Date | null;
  last_used_at: Date | null;
  created_at: Date;
  creator_id: string | null;
  creator: { id: string; name: string | null; email: string } | null;
};

/**
 * A workspace's keys, the newest first and the revoked ones last.
 * @param month the first day of the month that `spent` is of
 * @param id of one alone
 */
export async function selectKeys(
  client: ClientBase,
  workspaceId: string,
  month: string,
  id?: string,
): Promise<KeyRow[]> {
  const { rows } = await client.query<KeyRow>(
    `select k.id, k.kind, k.name, k.prefix, k.last_four, k.permissions, k.project_id,
       case when p.id is not null then jsonb_build_object('slug', p.slug, 'name', p.name) end as project,
       k.conditions, trim_scale(k.monthly_limit) as monthly_limit, trim_scale(coalesce(s.amount_usd, 0)) as spent,
       k.expires_at, k.rate_limit_rpm, k.allowed_cidrs, k.environment, k.revoked_at, k.rotated_at, k.last_used_at,
       k.created_at, k.created_by as creator_id,
       case when c.id is not null then jsonb_build_object('id', c.id, 'name', c.display_name, 'email', c.email) end as creator
     from public.api_keys as k
     left join public.projects as p on p.workspace_id = k.workspace_id and p.id = k.project_id
     left join public.key_spend as s on s.workspace_id = k.workspace_id and s.api_key_id = k.id and s.month = $2
     left join public.profiles as c on c.id = k.created_by
     where k.workspace_id = $1 and k.kind in ('key', 'environment') and ($3::uuid is null or k.id = $3)
     order by k.revoked_at is not null, k.created_at desc, k.id`,
    [workspaceId, month, id ?? null],
  );
  return rows;
}

/** Makes a key without a secret, as the transaction's user. @returns its id */
export async function insertKey(
  client: ClientBase,
  key: KeyColumns & { workspace_id: string; environment: "live" | "test" },
): Promise<string> {
  const columns = Object.entries(key);
  const { rows } = await client.query<{ id: string }>(
    `insert into public.api_keys (${columns.map(([name]) => name).join(", ")})
     values (${columns.map((_, index) => `$${index + 1}`).join(", ")}) returning id`,
    columns.map(([, value]) => value),
  );
  const [row] = rows;
  if (!row) throw new Error("A key that was made was not returned.");
  return row.id;
}

/** Holds a key for changing it, by the user's own right. @returns false where it was revoked meanwhile */
export async function lockKey(client: ClientBase, workspaceId: string, id: string): Promise<boolean> {
  const { rowCount } = await client.query(
    "select from public.api_keys where workspace_id = $1 and id = $2 and revoked_at is null for no key update",
    [workspaceId, id],
  );
  return rowCount === 1;
}

export async function updateKey(
  client: ClientBase,
  workspaceId: string,
  id: string,
  changes: Partial<KeyColumns>,
): Promise<void> {
  const columns = Object.entries(changes);
  if (columns.length === 0) return;
  await client.query(
    `update public.api_keys set ${columns.map(([name], index) => `${name} = $${index + 3}`).join(", ")}
     where workspace_id = $1 and id = $2`,
    [workspaceId, id, ...columns.map(([, value]) => value)],
  );
}

export async function revokeKey(client: ClientBase, workspaceId: string, id: string): Promise<void> {
  await client.query("update public.api_keys set revoked_at = now() where workspace_id = $1 and id = $2", [
    workspaceId,
    id,
  ]);
}

/** Gives a key its secret, as the service: the one before is dead with the commit. @param hash hex */
export async function giveSecret(
  client: ClientBase,
  id: string,
  secret: { hash: string; prefix: string; last_four: string },
): Promise<void> {
  await client.query("select private.give_key_secret($1, $2, $3, $4)", [
    id,
    secret.hash,
    secret.prefix,
    secret.last_four,
  ]);
}

export async function hasProject(client: ClientBase, workspaceId: string, id: string): Promise<boolean> {
  const { rowCount } = await client.query("select from public.projects where workspace_id = $1 and id = $2", [
    workspaceId,
    id,
  ]);
  return rowCount === 1;
}
