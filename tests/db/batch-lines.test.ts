import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrate } from "@/lib/db/migrate";
import { reconcile } from "@/lib/ledger/reconcile/service";
import { migrateDatabase } from "@/server/migrate-database";
import { apiClient, signUpUser } from "@/tests/helpers/client";
import { connectService } from "@/tests/helpers/connect-service";
import type { TestDatabase } from "@/tests/helpers/database";
import {
  type Item,
  makeEarlierDatabase,
  means,
  messageRows,
  move,
  type Row,
  withMigrations,
  workspace,
} from "@/tests/helpers/earlier-ledger";
import { ledgerDifferences } from "@/tests/helpers/harness";
import type { Fixtures } from "@/tests/helpers/keys";
import { projectRoot } from "@/tests/helpers/project-root";
import { startService } from "@/tests/helpers/service";
import { loadLines } from "@/tests/helpers/spend";

/** Steps of a hundred messages or lines, so that there are many. */
const inSmallSteps = (text: string) => text.replace(/^(-- Repeat until 0: .*\()\d+\)/, "$1100)");
/** As the Supabase CLI applies a migration: its statements, once. */
const atOnce = (text: string) => text.replace(/^-- Repeat until 0: .*/, "--");

/** Every posting of the ledger of before, with each line of a batch as one. */
const earlierPostings = `
  select m.workspace_id, m.id, coalesce(number - 1, m.part)::int as part, m.occurred_at, m.created_at, m.project_id, m.api_key_id,
    m.user_id, m.type, m.source, m.environment, m.provider,
    case when item is null then m.model else item ->> 'model' end as model,
    case when item is null then m.feature else item ->> 'feature' end as feature,
    coalesce(item ->> 'unit_type', m.unit_type) as unit_type,
    coalesce((item ->> 'quantity')::numeric, m.quantity)::text as quantity,
    trim_scale(coalesce((item ->> 'amount_usd')::numeric, m.amount_usd))::text as amount_usd,
    coalesce(item ->> 'cost_status', m.cost_status) as cost_status, coalesce(item -> 'price', m.price) as price,
    m.currency, m.original_amount::text as original_amount, m.batch_id,
    case when number > 1 then null else m.label end as label, m.category, m.notes,
    case when number > 1 then null else m.metadata end as metadata,
    case when item ? 'cached_quantity' then jsonb_build_object(
      'cached_quantity', item -> 'cached_quantity', 'request_input_tokens', item -> 'request_input_tokens'
    ) else m.details end as details
  from public.messages as m
  left join lateral jsonb_array_elements(m.items) with ordinality as lines (item, number) on true
  order by id, part`;

const postings = `
  select workspace_id, id, part::int, occurred_at, created_at, project_id, api_key_id, user_id, type, source, environment, provider, model,
    feature, unit_type, quantity::text, trim_scale(amount_usd)::text as amount_usd, cost_status, price, currency,
    original_amount::text as original_amount, batch_id, label, category, notes, metadata, details
  from public.messages
  order by id, part`;

/** The columns that counted otherwise before, and those that later migrations added, which are empty here. */
const others = "'{item_count,end_user,tags,included_usd}'::text[]";

const sums = (of: "daily_spend" | "daily_totals" | "key_spend") =>
  `select to_jsonb(s) - ${others} as row from public.${of} as s order by (to_jsonb(s) - ${others})::text`;

async function readSums({ sql }: Fixtures) {
  const all = await Promise.all(
    (["daily_spend", "daily_totals", "key_spend"] as const).map((of) => sql.query(sums(of))),
  );
  return all.map(({ rows }) => rows);
}

const rows = Array.from({ length: 900 }, (_, number) => messageRows(number)).flat();
let database: TestDatabase;
let fixtures: Fixtures;
let before: { postings: Row[]; sums: Row[][] };

beforeAll(async () => {
  ({ database, fixtures } = await makeEarlierDatabase(rows));
  before = { postings: (await fixtures.sql.query(earlierPostings)).rows, sums: await readSums(fixtures) };
}, 60_000);
afterAll(async () => {
  await fixtures?.close();
  await database?.drop();
});
connectService(() => database);

test("Moves lines in steps, loses none where a connection ends within one, and goes on at the next call", async () => {
  expect(before.postings.length).toBeGreaterThan(5_000);
  await withMigrations(
    (file) => file.slice(0, 14) <= (means as string),
    (folder) => migrate(database.adminUrl, folder),
  );
  // The end of a connection in the middle of a step: what it has moved by then is undone with it.
  await fixtures.sql.query(`
    create sequence public.steps;
    create function public.cut_off() returns trigger language plpgsql as $$
    begin
      if nextval('public.steps') in (4, 9, 10) then perform pg_terminate_backend(pg_backend_pid()); end if;
      return new;
    end $$;
    create trigger steps_are_cut_off after update on private.batch_moves for each row execute function public.cut_off()`);
  const attempt = () =>
    withMigrations(
      (file) => file.slice(0, 14) <= (move as string),
      (folder) => migrate(database.adminUrl, folder),
      inSmallSteps,
    );
  const sumOf =
    "select trim_scale(sum(amount_usd))::text as sum, count(*) filter (where items is not null)::int as left from public.messages";
  const sum = (await fixtures.sql.query(sumOf)).rows[0];
  const left = [sum.left];
  for (let attempts = 0; attempts < 3; attempts += 1) {
    await expect(attempt()).rejects.toThrow(/terminat|connection/i);
    const now = (await fixtures.sql.query(sumOf)).rows[0];
    expect(now.sum).toBe(sum.sum);
    left.push(now.left);
  }
  // Two attempts came on; the last was cut off in its first step.
  expect(left).toEqual([...left].sort((a, b) => b - a));
  expect(new Set(left).size).toBe(3);
  expect(left[3]).toBeGreaterThan(0);
  expect(await attempt()).toEqual([expect.stringContaining(move as string)]);
  await migrateDatabase(database.adminUrl, projectRoot);
  expect(
    (await fixtures.sql.query("select last_value::int as steps from public.steps")).rows[0].steps,
  ).toBeGreaterThan(30);
  await fixtures.sql.query("drop function public.cut_off(); drop sequence public.steps");

  expect((await fixtures.sql.query(postings)).rows).toEqual(before.postings);
  expect(await readSums(fixtures)).toEqual(before.sums);
  expect(await ledgerDifferences(fixtures)).toEqual([]);
  const { found, unlisted } = await reconcile({ repair: false });
  expect([found, unlisted]).toEqual([[], 0]);
});

test("Answers by the API what the ledger of before came to", async () => {
  const service = await startService(database);
  try {
    const { id, token } = await signUpUser(service.baseUrl);
    await fixtures.sql.query(
      "insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, 'viewer')",
      [workspace, id],
    );
    const viewer = apiClient(service.baseUrl, token);
    const seen: string[] = [];
    for (let cursor = ""; ; ) {
      const { body } = await viewer.get(
        `/api/v1/workspaces/earlier/activity?period=all&environment=live&limit=100${cursor && `&cursor=${cursor}`}`,
      );
      for (const row of body.activity as Row[])
        seen.push(`${row.id} ${row.part} ${row.line_count} ${row.cost_status}`);
      if (body.next_cursor === null) break;
      cursor = String(body.next_cursor);
    }
    const listed = rows.map(
      (row) =>
        `${row.id} ${row.part ?? 0} ${(row.items as Item[] | undefined)?.length ?? 1} ${row.cost_status}`,
    );
    expect(seen.sort()).toEqual(listed.sort());
    const lines = await loadLines(fixtures, workspace);
    const { body: metrics } = await viewer.get(
      "/api/v1/workspaces/earlier/metrics?period=all&environment=live",
    );
    expect((metrics.totals as Row).unpriced_count).toBe(
      lines.filter(({ status }) => status === "unpriced").length,
    );

    const batch = rows.find(
      ({ items, label }) => label && (items as Item[] | undefined)?.length === 300,
    ) as Row;
    const { body } = await viewer.get(`/api/v1/workspaces/earlier/messages/${batch?.id}`);
    expect(body).toMatchObject({
      label: batch.label,
      metadata: batch.metadata,
      details: null,
      entries: [{ part: 0 }],
    });
    expect(
      (body.lines as Row[]).map(({ model, feature, cost_status }) => [model, feature, cost_status]),
    ).toEqual((batch.items as Item[]).map((line) => [line.model, line.feature ?? null, line.cost_status]));
  } finally {
    await service.stop();
  }
});

test("Ends alike where the migrations are applied at once, as the Supabase CLI does", async () => {
  const other = await makeEarlierDatabase(rows);
  try {
    await withMigrations(
      () => true,
      (folder) => migrate(other.database.adminUrl, folder),
      atOnce,
    );
    await migrate(
      other.database.adminUrl,
      join(projectRoot, "supabase/migrations"),
      join(projectRoot, "supabase/archive"),
    );
    expect((await other.fixtures.sql.query(postings)).rows).toEqual(before.postings);
    expect(await readSums(other.fixtures)).toEqual(before.sums);
    expect(await ledgerDifferences(other.fixtures)).toEqual([]);
    const indexes = `select tablename, regexp_replace(indexdef, '^.* INDEX \\S+ ', '') as definition
      from pg_indexes where tablename like 'messages%' order by 1, 2`;
    expect((await other.fixtures.sql.query(indexes)).rows).toEqual((await fixtures.sql.query(indexes)).rows);
  } finally {
    await other.fixtures.close();
    await other.database.drop();
  }
});
