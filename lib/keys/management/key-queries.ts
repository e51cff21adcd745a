import type { ClientBase } from "pg";
import type { KeyPermission } from "@/lib/contract/access/permissions";
import {
  date,
  integer,
  json,
  neverNull,
  nullable,
  numeric,
  type Row,
  text,
  texts,
  timestamp,
  uuid,
} from "@/lib/db/columns";
import { callFunction, execute, selectAll, selectOne } from "@/lib/db/query";
import { assignments, empty, sql } from "@/lib/db/sql";
import type { KeyConditions, StoredSource } from "@/lib/keys/api-key";

/** The columns of a key that users set. `monthly_limit` is exact text in USD, `expires_at` ISO 8601. */
export type KeyColumns = {
  name: string;
  permissions: KeyPermission[];
  project_id: string | null;
  conditions: KeyConditions;
  monthly_limit: string | null;
  /** A raise is only ended here, never begun. */
  raised_limit?: null;
  raised_until?: null;
  on_limit: "refuse" | "record";
  expires_at: string | null;
  rate_limit_rpm: number | null;
  allowed_cidrs: string[];
  source_settings: StoredSource | null;
};

const keyRow = {
  id: uuid(),
  kind: text<"key" | "environment">(),
  name: text(),
  prefix: text(),
  last_four: text(),
  permissions: texts<KeyPermission>(),
  project_id: nullable(uuid()),
  project: nullable(json<{ slug: string; name: string }>()),
  conditions: json<KeyConditions>(),
  monthly_limit: nullable(numeric()),
  raised_limit: nullable(numeric()),
  raised_until: nullable(date()),
  on_limit: text<"refuse" | "record">(),
  spent: numeric(),
  expires_at: nullable(timestamp()),
  rate_limit_rpm: nullable(integer()),
  allowed_cidrs: texts(),
  source_settings: nullable(json<StoredSource>()),
  environment: text<"live" | "test">(),
  revoked_at: nullable(timestamp()),
  rotated_at: nullable(timestamp()),
  last_used_at: nullable(timestamp()),
  created_at: timestamp(),
  creator_id: nullable(uuid()),
  creator: nullable(json<{ id: string; name: string | null; email: string }>()),
};

/** A key as stored, with its project, its creator and its spend in a month (USD, exact text). */
export type KeyRow = Row<typeof keyRow>;

/**
 * A workspace's keys, newest first, revoked ones last.
 * @param month the first day of the month of `spent`, `YYYY-MM-DD`
 * @param id only this key
 */
export function selectKeys(
  client: ClientBase,
  workspaceId: string,
  month: string,
  id?: string,
): Promise<KeyRow[]> {
  return selectAll(
    client,
    keyRow,
    sql`select k.id, k.kind, k.name, k.prefix, k.last_four, k.permissions, k.project_id,
       case when p.id is not null then jsonb_build_object('slug', p.slug, 'name', p.name) end as project,
       k.conditions, trim_scale(k.monthly_limit) as monthly_limit, trim_scale(coalesce(s.amount_usd, 0)) as spent,
       trim_scale(k.raised_limit) as raised_limit, k.raised_until, k.on_limit, k.expires_at, k.rate_limit_rpm, k.allowed_cidrs, k.source_settings, k.environment, k.revoked_at, k.rotated_at, k.last_used_at,
       k.created_at, k.created_by as creator_id,
       case when c.id is not null then jsonb_build_object('id', c.id, 'name', c.display_name, 'email', c.email) end as creator
     from public.api_keys as k
     left join public.projects as p on p.workspace_id = k.workspace_id and p.id = k.project_id
     left join public.key_spend as s on s.workspace_id = k.workspace_id and s.api_key_id = k.id and s.month = ${month}
     left join public.profiles as c on c.id = k.created_by
     where k.workspace_id = ${workspaceId} and k.kind in ('key', 'environment')
       ${id === undefined ? empty : sql`and k.id = ${id}`}
     order by k.revoked_at is not null, k.created_at desc, k.id`,
  );
}

const spendingKey = {
  name: text(),
  limit: nullable(numeric()),
  spent: neverNull(numeric()),
};

/** A key of any kind, with its present limit and its spend in a month as exact text. @param month as for `selectKeys` */
export function selectSpendingKey(
  client: ClientBase,
  workspaceId: string,
  month: string,
  id: string,
): Promise<Row<typeof spendingKey>[]> {
  return selectAll(
    client,
    spendingKey,
    sql`select k.name, trim_scale(case when k.raised_until >= (now() at time zone 'UTC')::date then k.raised_limit else k.monthly_limit end) as limit, trim_scale(coalesce(s.amount_usd, 0)) as spent
      from public.api_keys as k
      left join public.key_spend as s on s.workspace_id = k.workspace_id and s.api_key_id = k.id and s.month = ${month}
      where k.workspace_id = ${workspaceId} and k.id::text = ${id}`,
  );
}

/** Inserts a key without a secret. The transaction's user becomes its creator. @returns its id */
export async function insertKey(
  client: ClientBase,
  key: KeyColumns & { workspace_id: string; environment: "live" | "test" },
): Promise<string> {
  const row = await selectOne(
    client,
    { id: uuid() },
    sql`insert into public.api_keys (workspace_id, environment, name, permissions, project_id, conditions,
        monthly_limit, on_limit, expires_at, rate_limit_rpm, allowed_cidrs, source_settings)
      values (${key.workspace_id}, ${key.environment}, ${key.name}, ${key.permissions}, ${key.project_id},
        ${key.conditions}, ${key.monthly_limit}, ${key.on_limit}, ${key.expires_at}, ${key.rate_limit_rpm}, ${key.allowed_cidrs},
        ${key.source_settings})
      returning id`,
  );
  return row.id;
}

/** Locks a key for a change. @returns whether it exists, is not revoked and the user may change it */
export async function lockKey(client: ClientBase, workspaceId: string, id: string): Promise<boolean> {
  const found = await execute(
    client,
    sql`select from public.api_keys
      where workspace_id = ${workspaceId} and id = ${id} and revoked_at is null for no key update`,
  );
  return found === 1;
}

/** Changes the given columns of a key. */
export async function updateKey(
  client: ClientBase,
  workspaceId: string,
  id: string,
  changes: Partial<KeyColumns>,
): Promise<void> {
  const set = assignments(changes);
  if (!set) return;
  await execute(
    client,
    sql`update public.api_keys set ${set} where workspace_id = ${workspaceId} and id = ${id}`,
  );
}

/** Revokes a key. */
export async function revokeKey(client: ClientBase, workspaceId: string, id: string): Promise<void> {
  await execute(
    client,
    sql`update public.api_keys set revoked_at = now() where workspace_id = ${workspaceId} and id = ${id}`,
  );
}

/** Stores a key's new secret. The previous one becomes invalid with the commit. Runs as the service. @param secret.hash in hex */
export async function replaceSecret(
  client: ClientBase,
  id: string,
  secret: { hash: string; prefix: string; last_four: string },
): Promise<void> {
  await callFunction(client, "private.give_key_secret", id, secret.hash, secret.prefix, secret.last_four);
}

/** Whether a workspace has a project with this id. */
export async function hasProject(client: ClientBase, workspaceId: string, id: string): Promise<boolean> {
  const found = await execute(
    client,
    sql`select from public.projects where workspace_id = ${workspaceId} and id = ${id}`,
  );
  return found === 1;
}
