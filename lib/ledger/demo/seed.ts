import { Client } from "pg";
import { v7 as uuidv7 } from "uuid";
import { createLocalUser } from "@/lib/access/sign-in/local/create-local-user";
import { toInstant } from "@/lib/contract/instant";
import { deadlines } from "@/lib/db/deadlines";
import { demoWorkspaceId } from "@/lib/keys/environment-key";
import { hashSecret, secretHint } from "@/lib/keys/secret";
import { permissionOf } from "@/lib/ledger/ingest/call";
import { composeMessage } from "@/lib/ledger/ingest/compose";
import type { LedgerRow } from "@/lib/ledger/ingest/ledger";
import { demoMessages, demoProjects } from "./messages";

/** The share of each demo budget that is spent when the demo is made. */
const budgets = [
  { name: "Everything", scope: "global", value: null, share: "0.85" },
  { name: "Code review", scope: "project", value: "code-review", share: "1.03" },
  { name: "Search", scope: "project", value: "search", share: "0.40" },
];

const messagesAWrite = 2_000;

/** How to get into the demo workspace: its owner's sign-in, and the secret of a key. */
export type DemoAccess = { email: string; password: string; key: string };

/**
 * Fills the demo workspace: an owner, six projects, four months of messages, three budgets, and a key.
 * Does nothing where the workspace is there already. One transaction: a start that is cut off leaves no half of it.
 * @param adminUrl logs in as the owner of the schema
 * @returns whether it was made now
 */
export async function seedDemo(adminUrl: string, access: DemoAccess, now = Date.now()): Promise<boolean> {
  const client = new Client({
    connectionString: adminUrl,
    connectionTimeoutMillis: deadlines.connect,
    query_timeout: deadlines.maintenance,
  });
  await client.connect();
  try {
    await client.query("begin");
    const { rowCount } = await client.query(
      `insert into public.workspaces (id, slug, name, type, description)
       values ($1, 'demo', 'Demo', 'demo', 'Four months of a team that does not exist. Look round, change things.')
       on conflict do nothing`,
      [demoWorkspaceId],
    );
    if (rowCount === 1) {
      const ownerId = await addOwner(client, access);
      await fill(client, access.key, ownerId, now);
    }
    await client.query("commit");
    return rowCount === 1;
  } finally {
    await client.end();
  }
}

async function addOwner(client: Client, { email, password }: DemoAccess): Promise<string> {
  const userId = await createLocalUser(client, { email, password, displayName: "Demo" });
  await client.query(
    "insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, 'owner')",
    [demoWorkspaceId, userId],
  );
  await client.query("update public.profiles set default_workspace_id = $1 where id = $2", [
    demoWorkspaceId,
    userId,
  ]);
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
  const rows = demoMessages(now).map(({ project, at, source, message }): LedgerRow => {
    const [posting] = composeMessage(
      { ...message, occurred_at: new Date(at).toISOString() },
      { now, overrides: [] },
    ).postings;
    return {
      ...posting,
      id: uuidv7({ msecs: at }),
      workspace_id: demoWorkspaceId,
      created_at: toInstant(at),
      project_id: idOf.get(project) ?? "",
      api_key_id: source === "api" ? keyId : null,
      source,
      environment: "live",
    };
  });
  for (const month of new Set(rows.map((row) => row.occurred_at.slice(0, 7)))) {
    await client.query("select private.ensure_messages_month($1)", [`${month}-01T00:00:00Z`]);
  }
  for (let start = 0; start < rows.length; start += messagesAWrite) {
    const messages = rows.slice(start, start + messagesAWrite);
    await client.query("select private.store_messages($1, $2, '[]')", [
      JSON.stringify(start === 0 ? projects : []),
      JSON.stringify(messages),
    ]);
  }
  for (const { name, scope, value, share } of budgets) {
    await client.query(
      `insert into public.budgets (workspace_id, name, scope_type, scope_value, amount)
       select $1, $2, $3, $4, greatest(ceil(sum(amount_usd) / $5::numeric), 1)
       from public.daily_spend
       where workspace_id = $1 and day >= date_trunc('month', $6::timestamptz at time zone 'UTC')::date
         and ($4::text is null or project_id::text = $4)`,
      [demoWorkspaceId, name, scope, value === null ? null : idOf.get(value), share, new Date(now)],
    );
  }
}

async function insertKey(client: Client, secret: string, ownerId: string): Promise<string> {
  const { prefix, last_four } = secretHint(secret);
  const { rows } = await client.query(
    `insert into public.api_keys (workspace_id, name, prefix, last_four, permissions, created_by)
     values ($1, 'Demo key', $2, $3, $4, $5) returning id`,
    [
      demoWorkspaceId,
      prefix,
      last_four,
      [...new Set([...Object.values(permissionOf), "manage_subscriptions", "read_summaries"])],
      ownerId,
    ],
  );
  await client.query(
    "insert into private.api_key_secrets (api_key_id, hash) values ($1, decode($2, 'hex'))",
    [rows[0].id, hashSecret(secret)],
  );
  return rows[0].id;
}
