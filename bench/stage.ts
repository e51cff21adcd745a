import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { generateSecret, hashSecret } from "@/lib/access/secrets/secret";
import { sessionCookieName } from "@/lib/access/sign-in/session-client";
import { startEmbeddedPostgres } from "@/lib/db/embedded/server";
import { bootstrapDatabaseAt, migrate } from "@/lib/db/migrate";
import { makeDataDir } from "@/tests/helpers/cluster";
import { Fixtures } from "@/tests/helpers/keys";
import { projectRoot } from "@/tests/helpers/project-root";
import { type Script, startScript } from "@/tests/helpers/script";
import { startService } from "@/tests/helpers/service";
import { histories, makeHistory } from "./history";

/** A server under test: its address, and the process whose CPU time is measured. */
export type Contender = { baseUrl: string; pid: number };

/** A signed-in user, by cookie and by token, and the slugs of the workspaces that they read. */
export type Dashboard = {
  cookie: string;
  token: string;
  slugs: Record<"empty" | keyof typeof histories, string>;
};

/** The running servers and the data that the bench measures. `stop()` ends them and removes what they wrote. */
export type Stage = {
  bare: Contender;
  floor: Contender;
  fast: Contender;
  next: Contender;
  postgresPid: () => number;
  /** Starts another service on the same database, without pages. @param program another bundle than the server's */
  serve(settings: Record<string, string>, program?: string): Promise<Contender>;
  /** Registers a resource that is closed at the end, before the services that use it. */
  closeAtEnd(close: () => unknown): void;
  /** `small`: a key of each of many workspaces with a small month. */
  keys: { many: string[]; hot: string; small: string[]; large: string };
  /** Creates keys of a new workspace, after `prepare` filled it. @returns their secrets */
  addKeys(
    count: number,
    prepare?: (fixtures: Fixtures, workspaceId: string) => Promise<void>,
  ): Promise<string[]>;
  dashboard: Dashboard;
  /** Adds a new user to a workspace. @returns their access token */
  addMember(slug: string): Promise<string>;
  stop(): Promise<void>;
};

/** The rows of the rollup in the small and the large month, and the number of messages that they sum. */
export const months = {
  small: { rows: 1_000, messages: 10_000 },
  large: { rows: 100_000, messages: 10_000_000 },
};

/** Starts a Postgres with durable settings in a temporary folder, and each server in its own process. */
export async function setStage(programs: { bare: string; floor: string }): Promise<Stage> {
  const opened: (() => unknown)[] = [];
  const stop = async () => {
    for (const close of opened.splice(0).reverse()) await close();
  };
  try {
    const dataDir = makeDataDir();
    opened.push(() => rmSync(dataDir, { recursive: true, force: true }));
    const postgres = await startEmbeddedPostgres({ dataDir, log: () => {} });
    opened.push(() => postgres.stop());
    await bootstrapDatabaseAt(postgres.superuserUrl, join(projectRoot, "supabase/bootstrap"));
    await migrate(postgres.adminUrl, join(projectRoot, "supabase/migrations"));
    await postgres.enableServiceLogin();
    const fixtures = new Fixtures(postgres.adminUrl);
    opened.push(() => fixtures.close());
    const keys = await makeKeys(fixtures);

    await makeFloor(fixtures);
    const startProgram = async (program: string, ...args: string[]) => {
      const script = startScript(program, args, { NODE_ENV: "production" });
      opened.push(() => endScript(script));
      const baseUrl = await script.line((line) => /^ready (\S+)/.exec(line)?.[1]);
      return { baseUrl, pid: script.pid };
    };
    const serve = async (settings: Record<string, string>, program?: string) => {
      const service = await startService(postgres, settings, program);
      opened.push(() => service.stop());
      return { baseUrl: service.baseUrl, pid: service.process.pid ?? 0 };
    };
    const fast = await serve({});
    return {
      bare: await startProgram(programs.bare),
      floor: await startProgram(programs.floor, postgres.url),
      fast,
      next: await serve({ OUTLAY_FAST_LANE: "off" }),
      serve,
      closeAtEnd: (close) => opened.push(close),
      postgresPid: postgres.pid,
      keys,
      addKeys: (count, prepare) => addKeys(fixtures, count, prepare),
      dashboard: await makeDashboard(fixtures, fast.baseUrl),
      addMember: async (slug) => {
        const { access_token: token, user } = await signUp(fast.baseUrl);
        await fixtures.sql.query(
          `insert into public.workspace_members (workspace_id, user_id, role)
           select id, $2, 'viewer' from public.workspaces where slug = $1`,
          [slug, user.id],
        );
        return token;
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function endScript({ child, ended }: Script): Promise<void> {
  child.kill("SIGTERM");
  await ended;
}

/** Creates a table like the ledger for `bench/floor.ts`, with its indexes and partitions for this month and the two before. */
async function makeFloor(fixtures: Fixtures): Promise<void> {
  await fixtures.sql.query(`
    create schema floor;
    create table floor.messages (like public.messages including all) partition by range (occurred_at);
    grant usage on schema floor to outlay_service;
    grant insert on floor.messages to outlay_service`);
  const { rows } = await fixtures.sql.query<{ name: string; from: string; until: string }>(
    `select 'messages_' || ago as name, (month - ago * interval '1 month')::date::text as from,
       (month - (ago - 1) * interval '1 month')::date::text as until
     from date_trunc('month', now() at time zone 'UTC') as month, generate_series(0, 2) as ago`,
  );
  for (const { name, from, until } of rows) {
    await fixtures.sql.query(
      `create table floor.${name} partition of floor.messages for values from ('${from}') to ('${until}')`,
    );
  }
}

async function addKeys(
  fixtures: Fixtures,
  count: number,
  prepare?: (fixtures: Fixtures, workspaceId: string) => Promise<void>,
): Promise<string[]> {
  const workspace = await fixtures.workspace();
  await prepare?.(fixtures, workspace);
  const secrets = Array.from({ length: count }, generateSecret);
  await fixtures.sql.query(
    `with made as (
       insert into public.api_keys (workspace_id, name, prefix, last_four, permissions)
       select $1, 'Key ' || number, 'svc_live_0000', lpad(number::text, 4, '0'), '{log_usage}'
       from generate_series(1, $2::int) as number
       returning id
     ), numbered as (select id, row_number() over () as position from made)
     insert into private.api_key_secrets (api_key_id, hash)
     select id, decode(hash, 'hex')
     from numbered join unnest($3::text[]) with ordinality as secret (hash, position) using (position)`,
    [workspace, count, secrets.map(hashSecret)],
  );
  return secrets;
}

async function makeKeys(fixtures: Fixtures): Promise<Stage["keys"]> {
  const workspace = await fixtures.workspace();
  const many: string[] = [];
  for (let index = 0; index < 200; index += 1) many.push((await fixtures.key(workspace)).secret);
  const hot = await fixtures.key(workspace, { monthly_limit: "1000000000", rate_limit_rpm: 2_000_000_000 });
  const small: string[] = [];
  for (let index = 0; index < 64; index += 1) small.push(await makeMonth(fixtures, months.small));
  return {
    many,
    hot: hot.secret,
    small,
    large: await makeMonth(fixtures, months.large),
  };
}

/** Creates a workspace whose rollup has this number of rows this month. @returns the secret of a key that reads it */
async function makeMonth(
  fixtures: Fixtures,
  { rows, messages }: { rows: number; messages: number },
): Promise<string> {
  const workspace = await fixtures.workspace();
  await fixtures.sql.query(
    `with project as (
       insert into public.projects (workspace_id, slug, name)
       select $1, 'project-' || number, 'Project ' || number from generate_series(1, 10) as number
       returning id, slug
     ), numbered as (
       select id, row_number() over (order by slug) - 1 as position from project
     )
     select private.add_daily_spend(array_agg(row(
       $1::uuid, date_trunc('month', now() at time zone 'UTC')::date + (number / 10 % 28)::int, id, null, 'usage', 'openai',
       'model-' || number / 280 % 20, 'feature-' || number / 5600, 'api', 'live', 1.25, $3::bigint, $3::bigint, 0, null, null, 0
     )::public.daily_spend))
     from generate_series(0, $2::int - 1) as number join numbered on position = number % 10`,
    [workspace, rows, messages / rows],
  );
  await fixtures.sql.query("analyze public.daily_spend, public.daily_totals");
  const { secret } = await fixtures.key(workspace, { permissions: ["read_summaries"] });
  return secret;
}

async function makeDashboard(fixtures: Fixtures, baseUrl: string): Promise<Dashboard> {
  const { user, ...session } = await signUp(baseUrl);
  const make = async (history?: Parameters<typeof makeHistory>[2]) => {
    const slug = `w-${randomUUID()}`;
    const workspace = await fixtures.workspace(slug);
    await fixtures.sql.query(
      "insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, 'owner')",
      [workspace, user.id],
    );
    if (history) await makeHistory(fixtures, workspace, history);
    return slug;
  };
  const slugs = { empty: await make(), young: await make(histories.young), full: await make(histories.full) };
  return { cookie: sessionCookie(session), token: session.access_token, slugs };
}

/** The cookie of a session, as supabase-js stores it. */
export function sessionCookie(session: { access_token: string }): string {
  return `${sessionCookieName}=base64-${Buffer.from(JSON.stringify(session)).toString("base64url")}`;
}

/** Signs a user up with the local sign-in. @returns their session, as supabase-js stores it in a cookie */
export async function signUp(baseUrl: string): Promise<{ access_token: string; user: { id: string } }> {
  const response = await fetch(`${baseUrl}/auth/v1/signup`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: `${randomUUID()}@example.com`, password: randomUUID() }),
  });
  if (!response.ok) throw new Error(`Signing up was answered ${response.status}: ${await response.text()}`);
  return response.json();
}
