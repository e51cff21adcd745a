import { Client } from "pg";
import { v7 as uuidv7 } from "uuid";
import { generateSecret, hashSecret, secretHint } from "@/lib/access/secrets/secret";
import type { CostMessage } from "@/lib/contract/ledger/message";
import { uuid } from "@/lib/db/columns";
import { callFunction, execute, selectAll, selectOne } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";
import { parseDecimal } from "@/lib/decimal";
import { seededRandom } from "@/lib/ledger/demo/random";
import { composeAllocation, composeMessage } from "@/lib/ledger/ingest/compose";
import { rememberedRequest } from "@/lib/ledger/ingest/idempotency";
import type { LedgerRow } from "@/lib/ledger/ingest/ledger";
import { type Replay, storeMessages } from "@/lib/ledger/ingest/store-messages";
import { nextMessage, type TeamMessage } from "./messages";
import { makeTeam, type Team } from "./team";

/** The postings in one call of `private.store_messages`. */
const postingsAWrite = 5_000;
const dayMs = 86_400_000;

/** The number of days with messages in the small workspace. */
const smallDays = 61;

/** The workspaces of a history, each with the number of its postings relative to those of the large workspace. */
const shares = [
  ["large", 1],
  ["second", 0.1],
] as const;

/** A workspace that is to be filled. */
type Tenant = {
  id: string;
  team: Team;
  postings: number;
  /** The number of days with messages, the last ones of the history. */
  days: number;
  random: () => number;
  projectIds: Map<string, string>;
  keyIds: Record<"live" | "test", string[]>;
};

/** How a history is filled. `postings`, `small`: the postings of the two workspaces. `now`: its last instant, ms since 1970. */
export type FillOptions = {
  postings: number;
  small: number;
  now: number;
  /** The number of recorded days. */
  days: number;
  /** How often the recorded days are copied to earlier days; by default not at all. */
  copies?: number;
  say: (line: string) => void;
};

/** The slugs of the workspaces with the most postings and with the fewest, and the secret of a key of each. */
export type FilledHistory = Record<"large" | "small", { slug: string; key: string }>;

/**
 * Fills a database with messages of several workspaces, through the function with which the service records
 * (`private.store_messages`), so that all sums are correct. Earlier days are copies of the recorded ones, including their sums;
 * `npm run reconcile` finds no difference. The small workspace uses the same names, and has messages only in the last two months,
 * which reads of the present need.
 * @param adminUrl logs in as the owner of the schema
 */
export async function fillHistory(adminUrl: string, options: FillOptions): Promise<FilledHistory> {
  const { postings, small, now, days, copies = 0, say } = options;
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  try {
    await execute(client, sql`set synchronous_commit = off`);
    const tenants: Tenant[] = [];
    const found: Partial<FilledHistory> = {};
    const all = [
      ...shares.map(([slug, share]) => [slug, (postings * share) / (copies + 1)] as const),
      ["small", small] as const,
    ];
    for (const [slug, count] of all) {
      if (count === 0) continue;
      const ownDays = slug === "small" ? Math.min(days, smallDays) : days;
      const { tenant, key } = await makeTenant(client, slug, { postings: count, days: ownDays });
      tenants.push(tenant);
      if (slug === "large" || slug === "small") found[slug] = { slug, key };
    }
    await makeMonths(client, now, days * (copies + 1));
    await fillDays(client, tenants, { now, days }, say);
    await copyDays(client, options);
    say("vacuuming");
    for (const table of ["messages", "daily_spend", "daily_totals", "key_spend"]) {
      await client.query(`vacuum analyze public.${table}`);
    }
    await client.query("vacuum analyze private.idempotency");
    await makeBudgets(client, tenants);
    return found as FilledHistory;
  } finally {
    await client.end();
  }
}

async function makeTenant(
  client: Client,
  slug: string,
  size: { postings: number; days: number },
): Promise<{ tenant: Tenant; key: string }> {
  const team = makeTeam(1);
  const workspace = await selectOne(
    client,
    { id: uuid() },
    sql`insert into public.workspaces (slug, name) values (${slug}, ${slug}) returning id`,
  );
  const projects = await selectAll(
    client,
    { id: uuid() },
    sql`insert into public.projects (workspace_id, slug, name)
      select ${workspace.id}, slug, initcap(slug) from unnest(${team.projects}::text[]) with ordinality as p (slug, place)
      order by place returning id`,
  );
  const keyIds: Tenant["keyIds"] = { live: [], test: [] };
  let secret = "";
  for (const environment of ["live", "test"] as const) {
    for (const name of team.keyNames) {
      const made = generateSecret();
      const { prefix, last_four } = secretHint(made);
      const { id } = await selectOne(
        client,
        { id: uuid() },
        sql`insert into public.api_keys (workspace_id, name, prefix, last_four, permissions, environment)
          values (${workspace.id}, ${`${name} (${environment})`}, ${prefix}, ${last_four},
            ${["log_usage", "add_expenses", "manage_subscriptions", "read_summaries"]}, ${environment}) returning id`,
      );
      await execute(
        client,
        sql`insert into private.api_key_secrets (api_key_id, hash) values (${id}, decode(${hashSecret(made)}, 'hex'))`,
      );
      keyIds[environment].push(id);
      if (environment === "live") secret = made;
    }
  }
  const projectIds = new Map(team.projects.map((name, index) => [name, projects[index]?.id ?? ""]));
  const random = seededRandom(slug.length * 7919 + slug.charCodeAt(0));
  return { tenant: { id: workspace.id, team, ...size, random, projectIds, keyIds }, key: secret };
}

/** Creates the partitions of the history, and of the year after it, which yearly charges reach. */
async function makeMonths(client: Client, now: number, days: number): Promise<void> {
  const from = new Date(now - days * dayMs);
  for (let month = 0; ; month += 1) {
    const first = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + month, 1));
    if (first.getTime() > now + 366 * dayMs) return;
    await callFunction(client, "private.ensure_messages_month", first.toISOString());
  }
}

/** The relative number of messages on a day, fewer on weekends. */
function weightOf(day: number): number {
  const weekday = new Date(day * dayMs).getUTCDay();
  return weekday === 0 || weekday === 6 ? 0.35 : 1;
}

/**
 * Copies the recorded days to earlier days, without the answers of idempotency keys, and sums them. Leaves out the small workspace, and
 * subscriptions, whose later months would lie on days that are summed already.
 */
async function copyDays(
  client: Client,
  { now, days, copies = 0, say }: Pick<FillOptions, "now" | "days" | "copies" | "say">,
): Promise<void> {
  const { rows: columns } = await client.query<{ name: string }>(
    `select attname as name from pg_attribute
     where attrelid = 'public.messages'::regclass and attnum > 0 and not attisdropped order by attnum`,
  );
  const changed: Record<string, string> = {
    id: "md5(id::text || $2)::uuid",
    occurred_at: "occurred_at - $2::integer * interval '1 day'",
    created_at: "created_at - $2::integer * interval '1 day'",
  };
  const copied = columns.map(({ name }) => changed[name] ?? name).join(", ");
  const firstDay = new Date((Math.floor(now / dayMs) - days + 1) * dayMs).toISOString();
  for (let copy = copies; copy >= 1; copy -= 1) {
    const { rowCount } = await client.query(
      `insert into public.messages select ${copied} from public.messages
       where occurred_at >= $1 and type <> 'subscription'
         and workspace_id <> (select id from public.workspaces where slug = 'small')`,
      [firstDay, copy * days],
    );
    say(`copied ${rowCount} postings to ${copy * days} days before`);
  }
  if (copies === 0) return;
  // The same as `private.store_messages` and `private.add_daily_spend` do for each call.
  const names = "project_id, api_key_id, type, provider, model, feature, source, environment, end_user, tags";
  await client.query("set timezone = 'UTC'");
  await client.query(
    `insert into public.daily_spend (workspace_id, day, ${names}, amount_usd, message_count, item_count, unpriced_count, included_usd)
     select workspace_id, occurred_at::date, ${names}, sum(amount_usd), count(*) filter (where part = 0), count(*),
       count(*) filter (where cost_status = 'unpriced'), coalesce(sum(list_price_usd), 0)
     from public.messages where occurred_at < '${firstDay}'
     group by workspace_id, occurred_at::date, ${names} order by workspace_id, occurred_at::date`,
  );
  say("summed postings by day");
  await client.query(
    `insert into public.daily_totals (
       workspace_id, environment, dimension, day, value, type, amount_usd, message_count, unpriced_count, included_usd
     )
     select workspace_id, environment, dimension, day, value, type, sum(amount_usd), sum(message_count), sum(unpriced_count),
       sum(included_usd)
     from public.daily_spend
     cross join lateral (
       values ('project', project_id::text), ('key', api_key_id::text), ('provider', provider), ('model', model),
         ('feature', feature)
       union all
       select 'user', end_user where end_user is not null
       union all
       select 'tag', tag from unnest(tags) as tag
     ) as part (dimension, value)
     where day < '${firstDay}'
     group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4`,
  );
  await client.query(
    `insert into public.key_spend as spend (workspace_id, api_key_id, month, amount_usd, message_count)
     select workspace_id, api_key_id, date_trunc('month', created_at)::date, sum(amount_usd), count(*) filter (where part = 0)
     from public.messages where occurred_at < '${firstDay}' group by 1, 2, 3
     on conflict (workspace_id, api_key_id, month) do update
       set amount_usd = spend.amount_usd + excluded.amount_usd, message_count = spend.message_count + excluded.message_count`,
  );
}

async function fillDays(
  client: Client,
  tenants: Tenant[],
  { now, days }: { now: number; days: number },
  say: (line: string) => void,
): Promise<void> {
  const lastDay = Math.floor(now / dayMs);
  const firstDay = lastDay - days + 1;
  const all = Array.from({ length: days }, (_, index) => firstDay + index);
  const weightsOf = new Map(
    tenants.map((tenant) => {
      const ownDays = all.slice(-tenant.days);
      return [tenant, ownDays.reduce((sum, day) => sum + weightOf(day), 0)] as const;
    }),
  );
  const since = performance.now();
  let stored = 0;
  let writing: Promise<void> = Promise.resolve();
  const owed = new Map(tenants.map((tenant) => [tenant, 0]));
  for (const [index, day] of all.entries()) {
    for (const tenant of tenants) {
      if (index < days - tenant.days) continue;
      const share = weightOf(day) / (weightsOf.get(tenant) ?? 1);
      let due = (owed.get(tenant) ?? 0) + tenant.postings * share;
      while (due >= 1) {
        const chunk = composeChunk(tenant, day, now, Math.min(due, postingsAWrite));
        due -= chunk.messages.length;
        stored += chunk.messages.length;
        // The next messages are composed while Postgres stores these.
        await writing;
        writing = storeMessages(client, { projects: [], ...chunk });
        writing.catch(() => {});
      }
      owed.set(tenant, due);
    }
    if (index % 30 === 29) {
      const perSecond = Math.round((stored / (performance.now() - since)) * 1000);
      say(`${index + 1} of ${days} days, ${stored} postings, ${perSecond} a second`);
    }
  }
  await writing;
  say(`${stored} postings in ${((performance.now() - since) / 1000).toFixed(0)} s`);
}

/** Composes messages of a tenant's day until they have a number of postings, in the order of recording. */
function composeChunk(tenant: Tenant, day: number, now: number, postings: number) {
  const found: TeamMessage[] = [];
  let count = 0;
  while (count < postings) {
    const next = nextMessage(tenant.team, day, now, tenant.random);
    found.push(next);
    count += next.message.type === "batch" ? next.message.items.length : 1;
  }
  found.sort((a, b) => a.recordedAt - b.recordedAt);
  const messages: LedgerRow[] = [];
  const replays: Replay[] = [];
  for (const each of found) {
    const { rows, replay } = rowsOf(tenant, each, now);
    messages.push(...rows);
    if (replay) replays.push(replay);
  }
  return { messages, replays };
}

function rowsOf(tenant: Tenant, sent: TeamMessage, now: number): { rows: LedgerRow[]; replay?: Replay } {
  const { workload, environment, source, recordedAt, message } = sent;
  const id = uuidv7({ msecs: recordedAt });
  const created_at = new Date(recordedAt).toISOString();
  const { postings, fromProject = workload.project } = compose(message, now);
  const rows = postings.map((posting, index): LedgerRow => {
    const project = index === 1 ? fromProject : workload.project;
    const owner = {
      workspace_id: tenant.id,
      id,
      created_at,
      project_id: tenant.projectIds.get(project) ?? "",
      api_key_id: tenant.keyIds[environment][workload.key] ?? "",
      environment,
      source,
    };
    return { ...posting, ...owner };
  });
  if (!sent.hasIdempotencyKey) return { rows };
  const request = { project: workload.project, source: "api" as const, message };
  const response = {
    id,
    status: "recorded",
    amount_usd: rows[0]?.amount_usd,
    occurred_at: rows[0]?.occurred_at,
  };
  return {
    rows,
    replay: {
      workspace_id: tenant.id,
      keys: [id],
      message_id: id,
      request: rememberedRequest(request, environment),
      response,
      created_at,
    },
  };
}

function compose(message: CostMessage, now: number) {
  return message.type === "allocation"
    ? composeAllocation(message, parseDecimal(message.amount ?? "0"), now)
    : composeMessage(message, { now, overrides: [] });
}

/** Makes ten budgets for each workspace, covering every kind of scope. */
async function makeBudgets(client: Client, tenants: Tenant[]): Promise<void> {
  for (const { id, projectIds, keyIds } of tenants) {
    const scopes: [type: string, value: string | null][] = [
      ["global", null],
      ...[...projectIds.values()].slice(0, 3).map((value): [string, string] => ["project", value]),
      ...["feature-1", "feature-2"].map((value): [string, string] => ["feature", value]),
      ...["openai", "anthropic"].map((value): [string, string] => ["provider", value]),
      ...keyIds.live.slice(0, 2).map((value): [string, string] => ["key", value]),
    ];
    for (const [index, [type, value]] of scopes.entries()) {
      await execute(
        client,
        sql`insert into public.budgets (workspace_id, name, scope_type, scope_value, amount)
          values (${id}, ${`Budget ${index + 1}`}, ${type}, ${value}, ${1_000})`,
      );
    }
  }
}
