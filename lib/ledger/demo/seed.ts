import { Client } from "pg";
import { v7 as uuidv7 } from "uuid";
import { generateSecret, hashSecret, secretHint } from "@/lib/access/secrets/secret";
import { createLocalUser } from "@/lib/access/sign-in/local/account-queries";
import { toInstant } from "@/lib/contract/values/instant";
import { uuid } from "@/lib/db/columns";
import { deadlines } from "@/lib/db/deadlines";
import { callFunction, execute, selectOne } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";
import { demoWorkspaceId } from "@/lib/keys/environment-key";
import { bookAsAdjustments } from "@/lib/ledger/closing/book-as-adjustments";
import { permissionOf } from "@/lib/ledger/ingest/call";
import { composeMessage } from "@/lib/ledger/ingest/compose";
import type { LedgerRow } from "@/lib/ledger/ingest/ledger";
import { storeMessages } from "@/lib/ledger/ingest/store-messages";
import { type DemoProgram, demoMessages, demoProjects } from "./messages";

/** The demo budgets. `share`: how much of the limit is spent when the demo is created. */
const budgets = [
  { name: "Everything", scope: "global", value: null, share: "0.85", blocks: false },
  { name: "Code review", scope: "project", value: "code-review", share: "1.03", blocks: false },
  { name: "Search", scope: "project", value: "search", share: "0.40", blocks: false },
  { name: "Research", scope: "project", value: "research", share: "0.62", blocks: true },
];

/** The sources: keys of programs that report calls. Their secrets are shown to nobody; rotating a key gives it a new one. */
const sources: readonly { program: DemoProgram; name: string; project: string; feature: string }[] = [
  { program: "claude-code", name: "Claude Code", project: "code-review", feature: "coding" },
  { program: "ai-sdk", name: "Support app", project: "support-assistant", feature: "chat" },
];

const messagesAWrite = 2_000;

const dayMs = 86_400_000;

/** The credentials of the demo workspace: its owner's sign-in, and the secret of a key. */
export type DemoAccess = { email: string; password: string; key: string };

/**
 * Fills the demo workspace: an owner, six projects, four months of messages (the last month that can be closed is, with an adjustment),
 * a key, two sources, four budgets, and a channel that mails the owner. Does nothing if the workspace exists. Runs in one transaction,
 * so that an interrupted start leaves nothing half done.
 * @param adminUrl logs in as the owner of the schema
 * @param finish adds more to the workspace, in the same transaction, with the claims of the owner
 * @returns whether the workspace was created now
 */
export async function seedDemo(
  adminUrl: string,
  access: DemoAccess,
  now = Date.now(),
  finish: (client: Client, workspaceId: string, now: number) => Promise<void> = async () => {},
): Promise<boolean> {
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
      const rows = await fill(client, access.key, ownerId, now);
      await closeLastMonth(client, rows, ownerId, now);
      await insertArrivals(client, rows, now);
      await addBudgets(client, now);
      await addChannel(client, access.email, ownerId);
      await sortInbox(client, ownerId);
      const claims = JSON.stringify({ sub: ownerId, role: "authenticated", email: access.email });
      await execute(client, sql`select set_config('request.jwt.claims', ${claims}, true)`);
      await finish(client, demoWorkspaceId, now);
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

/** Records the messages. @returns their rows */
async function fill(client: Client, keySecret: string, ownerId: string, now: number): Promise<LedgerRow[]> {
  const projects = demoProjects.map(({ slug, name }) => ({
    slug,
    name,
    workspace_id: demoWorkspaceId,
    id: uuidv7(),
  }));
  const idOf = new Map(projects.map(({ slug, id }) => [slug, id]));
  const permissions = [
    ...new Set([...Object.values(permissionOf), "manage_subscriptions", "read_summaries"]),
  ];
  const keyId = await insertKey(client, { name: "Demo key", secret: keySecret, permissions, ownerId });
  const sourceKeys = new Map<DemoProgram, string>();
  for (const { program, name, project, feature } of sources) {
    const settings = { program, default_project: project, default_feature: feature };
    const key = { name, secret: generateSecret(), permissions: ["log_usage"], ownerId, settings };
    sourceKeys.set(program, await insertKey(client, key));
  }
  const rows = demoMessages(now).flatMap(({ project, at, source, program, message }): LedgerRow[] => {
    const { postings } = composeMessage(
      { ...message, occurred_at: new Date(at).toISOString() },
      { now, overrides: [] },
    );
    const owner = {
      id: uuidv7({ msecs: at }),
      workspace_id: demoWorkspaceId,
      created_at: toInstant(at),
      project_id: idOf.get(project) ?? "",
      api_key_id: source === "api" ? ((program && sourceKeys.get(program)) ?? keyId) : null,
      source,
      environment: "live" as const,
      ...(program && { emitter: program }),
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
  for (const id of [keyId, ...sourceKeys.values()])
    await execute(
      client,
      sql`update public.api_keys set last_used_at =
          (select max(created_at) from public.messages where workspace_id = ${demoWorkspaceId} and api_key_id = ${id})
        where id = ${id}`,
    );
  return rows;
}

/** Closes the last month that can be closed, and records a late invoice of that month, which becomes an adjustment. */
async function closeLastMonth(
  client: Client,
  rows: LedgerRow[],
  ownerId: string,
  now: number,
): Promise<void> {
  const month = new Date(now - 2 * dayMs).toISOString().slice(0, 7);
  const closedUntil = `${month}-01`;
  const last = rows.findLast(({ occurred_at }) => occurred_at < closedUntil);
  if (!last || now > Date.now()) return;
  const claims = JSON.stringify({ sub: ownerId, role: "authenticated" });
  await execute(client, sql`select set_config('request.jwt.claims', ${claims}, true)`);
  await callFunction(client, "private.close_months", demoWorkspaceId, `${last.occurred_at.slice(0, 7)}-01`);
  await execute(client, sql`select set_config('request.jwt.claims', '', true)`);
  const { postings } = composeMessage(
    {
      type: "expense",
      vendor: "Translation agency",
      amount: "180",
      currency: "USD",
      notes: "The invoice came after the month was closed.",
      occurred_at: `${last.occurred_at.slice(0, 10)}T09:00:00Z`,
    },
    { now, overrides: [] },
  );
  const owner = {
    id: uuidv7({ msecs: now }),
    workspace_id: demoWorkspaceId,
    created_at: toInstant(now),
    project_id: last.project_id,
    api_key_id: null,
    source: "manual" as const,
    environment: "live" as const,
  };
  const messages = bookAsAdjustments(postings, { closedUntil, timeZone: "UTC" }, owner.created_at).map(
    (posting) => ({
      ...posting,
      ...owner,
    }),
  );
  await storeMessages(client, { projects: [], messages, replays: [] });
}

/** Counts what the sources reported in the last week, as the service does when an export arrives. */
async function insertArrivals(client: Client, rows: readonly LedgerRow[], now: number): Promise<void> {
  const since = toInstant(now - 7 * dayMs);
  const bySource = sources.flatMap(({ program: emitter }) => {
    const reported = rows.filter((row) => row.emitter === emitter && row.created_at >= since);
    const last = reported.at(-1);
    if (!last?.api_key_id) return [];
    const { id, provider, model, amount_usd: amount, cost_status: status } = last;
    const latest = { id, provider, model, amount, status };
    return [{ key: last.api_key_id, emitter, count: reported.length, latest }];
  });
  await callFunction(
    client,
    "private.note_sources",
    JSON.stringify({
      arrivals: bySource.map(({ key, emitter, count, latest }) => {
        return { key, emitter, told: count, recorded: count, repeated: 0, refused: 0, latest };
      }),
      account: bySource.map(({ key, emitter, count }) => ({
        key,
        emitter,
        outcome: "recorded",
        by: "",
        count,
      })),
      refusals: [],
      exports: [],
    }),
  );
}

async function addBudgets(client: Client, now: number): Promise<void> {
  for (const { name, scope, value, share, blocks } of budgets) {
    await execute(
      client,
      sql`insert into public.budgets (workspace_id, name, scope_type, scope_value, amount, blocks)
        select ${demoWorkspaceId}, ${name}, ${scope}, min(p.id::text) filter (where ${value}::text is not null),
          greatest(ceil(sum(s.amount_usd) / ${share}::numeric), 1), ${blocks}
        from public.daily_spend as s
        join public.projects as p on p.workspace_id = s.workspace_id and p.id = s.project_id
        where s.workspace_id = ${demoWorkspaceId}
          and s.day >= date_trunc('month', ${new Date(now)}::timestamptz at time zone 'UTC')::date
          and (${value}::text is null or p.slug = ${value})`,
    );
  }
}

/** Assigns one budget alert to the owner and resolves another in their name. The others stay unassigned. */
async function sortInbox(client: Client, ownerId: string): Promise<void> {
  const ofBudget = (name: string) =>
    sql`workspace_id = ${demoWorkspaceId}
      and subject_id = (select b.id::text from public.budgets as b where b.workspace_id = ${demoWorkspaceId} and b.name = ${name})`;
  await execute(
    client,
    sql`update public.alert_entries set assignee_id = ${ownerId} where ${ofBudget("Code review")}`,
  );
  await execute(
    client,
    sql`update public.alert_entries set resolved_at = now(), resolved_because = 'by_hand', resolved_by = ${ownerId}
      where ${ofBudget("Research")}`,
  );
}

async function addChannel(client: Client, address: string, ownerId: string): Promise<void> {
  const channel = await selectOne(
    client,
    { id: uuid() },
    sql`insert into public.alert_channels (workspace_id, name, kind, target, created_by)
      values (${demoWorkspaceId}, 'Finance', 'email', ${address}, ${ownerId}) returning id`,
  );
  await execute(
    client,
    sql`insert into private.channel_secrets (workspace_id, channel_id) values (${demoWorkspaceId}, ${channel.id})`,
  );
}

type DemoKey = { name: string; secret: string; permissions: string[]; ownerId: string; settings?: object };

async function insertKey(
  client: Client,
  { name, secret, permissions, ownerId, settings }: DemoKey,
): Promise<string> {
  const { prefix, last_four } = secretHint(secret);
  const key = await selectOne(
    client,
    { id: uuid() },
    sql`insert into public.api_keys (workspace_id, name, prefix, last_four, permissions, created_by, source_settings)
      values (${demoWorkspaceId}, ${name}, ${prefix}, ${last_four}, ${permissions}, ${ownerId},
        ${settings ? JSON.stringify(settings) : null}) returning id`,
  );
  await execute(
    client,
    sql`insert into private.api_key_secrets (api_key_id, hash)
      values (${key.id}, decode(${hashSecret(secret)}, 'hex'))`,
  );
  return key.id;
}
