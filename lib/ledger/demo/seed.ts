import { Client } from "pg";
import { v7 as uuidv7 } from "uuid";
import { hashSecret, secretHint } from "@/lib/access/secrets/secret";
import { createLocalUser } from "@/lib/access/sign-in/local/account-queries";
import { toInstant } from "@/lib/contract/values/instant";
import { uuid } from "@/lib/db/columns";
import { deadlines } from "@/lib/db/deadlines";
import { callFunction, execute, selectOne } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";
import { demoWorkspaceId } from "@/lib/keys/environment-key";
import { permissionOf } from "@/lib/ledger/ingest/call";
import { composeMessage } from "@/lib/ledger/ingest/compose";
import type { LedgerRow } from "@/lib/ledger/ingest/ledger";
import { storeMessages } from "@/lib/ledger/ingest/store-messages";
import { demoMessages, demoProjects } from "./messages";

/** The demo budgets, with the share of each that is spent when the demo is created. */
const budgets = [
  { name: "Everything", scope: "global", value: null, share: "0.85" },
  { name: "Code review", scope: "project", value: "code-review", share: "1.03" },
  { name: "Search", scope: "project", value: "search", share: "0.40" },
];

const messagesAWrite = 2_000;

/** The credentials of the demo workspace: its owner's sign-in, and the secret of a key. */
export type DemoAccess = { email: string; password: string; key: string };

/**
 * Fills the demo workspace: an owner, six projects, four months of messages, three budgets, and a key. Does nothing if
 * the workspace exists. Runs in one transaction, so that an interrupted start leaves nothing half done.
 * @param adminUrl logs in as the owner of the schema
 * @returns whether the workspace was created now
 */
export async function seedDemo(adminUrl: string, access: DemoAccess, now = Date.now()): Promise<boolean> {
  const client = new Client({
    connectionString: adminUrl,
    connectionTimeoutMillis: deadlines.connect,
    query_timeout: deadlines.maintenance,
  });
  await client.connect();
  try {
    await execute(client, sql`begin`);
    const made = await execute(
      client,
      sql`insert into public.workspaces (id, slug, name, type, description)
        values (${demoWorkspaceId}, 'demo', 'Demo', 'demo',
          'Four months of a team that does not exist. Look around and change things.')
        on conflict do nothing`,
    );
    if (made === 1) {
      const ownerId = await addOwner(client, access);
      await fill(client, access.key, ownerId, now);
    }
    await execute(client, sql`commit`);
    return made === 1;
  } finally {
    await client.end();
  }
}

async function addOwner(client: Client, { email, password }: DemoAccess): Promise<string> {
  const userId = await createLocalUser(client, { email, password, displayName: "Demo" });
  await execute(
    client,
    sql`insert into public.workspace_members (workspace_id, user_id, role)
      values (${demoWorkspaceId}, ${userId}, 'owner')`,
  );
  await execute(
    client,
    sql`update public.profiles set default_workspace_id = ${demoWorkspaceId} where id = ${userId}`,
  );
  return userId;
}

async function fill(client: Client, keySecret: string, ownerId: string, now: number): Promise<void> {
  const projects = demoProjects.map((project) => ({
    ...project,
    workspace_id: demoWorkspaceId,
    id: uuidv7(),
  }));
  const idOf = new Map(projects.map(({ slug, id }) => [slug, id]));
  const keyId = await insertKey(client, keySecret, ownerId);
  const rows = demoMessages(now).flatMap(({ project, at, source, message }): LedgerRow[] => {
    const { postings } = composeMessage(
      { ...message, occurred_at: new Date(at).toISOString() },
      { now, overrides: [] },
    );
    const owner = {
      id: uuidv7({ msecs: at }),
      workspace_id: demoWorkspaceId,
      created_at: toInstant(at),
      project_id: idOf.get(project) ?? "",
      api_key_id: source === "api" ? keyId : null,
      source,
      environment: "live" as const,
    };
    return postings.map((posting) => ({ ...posting, ...owner }));
  });
  for (const month of new Set(rows.map((row) => row.occurred_at.slice(0, 7)))) {
    await callFunction(client, "private.ensure_messages_month", `${month}-01T00:00:00Z`);
  }
  for (let start = 0; start < rows.length; start += messagesAWrite) {
    const messages = rows.slice(start, start + messagesAWrite);
    const newProjects = start === 0 ? projects : [];
    await storeMessages(client, { projects: newProjects, messages, replays: [] });
  }
  for (const { name, scope, value, share } of budgets) {
    const id = value === null ? null : (idOf.get(value) ?? null);
    await execute(
      client,
      sql`insert into public.budgets (workspace_id, name, scope_type, scope_value, amount)
        select ${demoWorkspaceId}, ${name}, ${scope}, ${id}, greatest(ceil(sum(amount_usd) / ${share}::numeric), 1)
        from public.daily_spend
        where workspace_id = ${demoWorkspaceId}
          and day >= date_trunc('month', ${new Date(now)}::timestamptz at time zone 'UTC')::date
          and (${id}::text is null or project_id::text = ${id})`,
    );
  }
}

async function insertKey(client: Client, secret: string, ownerId: string): Promise<string> {
  const { prefix, last_four } = secretHint(secret);
  const permissions = [
    ...new Set([...Object.values(permissionOf), "manage_subscriptions", "read_summaries"]),
  ];
  const key = await selectOne(
    client,
    { id: uuid() },
    sql`insert into public.api_keys (workspace_id, name, prefix, last_four, permissions, created_by)
      values (${demoWorkspaceId}, 'Demo key', ${prefix}, ${last_four}, ${permissions}, ${ownerId}) returning id`,
  );
  await execute(
    client,
    sql`insert into private.api_key_secrets (api_key_id, hash)
      values (${key.id}, decode(${hashSecret(secret)}, 'hex'))`,
  );
  return key.id;
}
