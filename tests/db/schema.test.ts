import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bootstrapDatabaseAt } from "@/lib/db/migrate";
import { statementsIn } from "@/lib/db/sql-file";
import { readCatalogue } from "@/tests/helpers/catalogue";
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from "@/tests/helpers/database";
import { projectRoot } from "@/tests/helpers/project-root";

const supabase = join(projectRoot, "supabase");
const migrations = readdirSync(join(supabase, "migrations"))
  .sort()
  .map((file) => join(supabase, "migrations", file));
/** The files of `schema_paths`, in their order. */
const schemas = [
  ...(/^schema_paths = \[([^\]]*)\]/m
    .exec(readFileSync(join(supabase, "config.toml"), "utf8"))?.[1]
    ?.matchAll(/"(.+)"/g) ?? []),
].map(([, path]) => join(supabase, path as string));

let database: TestDatabase;
let client: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client({ connectionString: database.superuserUrl });
  await client.connect();
});

afterAll(async () => {
  await client?.end();
  await database?.drop();
});

/** The catalogue of a new database after these files, each statement in a transaction of its own. */
async function catalogueAfter(files: string[], settings = "select 1"): Promise<string[]> {
  const other = await createEmptyDatabase();
  await bootstrapDatabaseAt(other.superuserUrl, join(supabase, "bootstrap"));
  const admin = new Client({ connectionString: other.adminUrl });
  await admin.connect();
  try {
    await admin.query(settings);
    for (const file of files) {
      for (const { text, line } of statementsIn(file)) {
        await admin.query(text).catch((cause) => {
          throw new Error(`${basename(file)}, line ${line}: ${cause.message}`, { cause });
        });
      }
    }
    return await readCatalogue(admin);
  } finally {
    await admin.end();
    await other.drop();
  }
}

test("Makes the same schema from supabase/schemas as from supabase/migrations", async () => {
  const described = await catalogueAfter(schemas);
  const migrated = await readCatalogue(client);
  expect(
    {
      "only the migrations make": migrated.filter((line) => !described.includes(line)),
      "only the schemas make": described.filter((line) => !migrated.includes(line)),
    },
    "docs/guides/add-a-migration.md says how to change both",
  ).toEqual({ "only the migrations make": [], "only the schemas make": [] });
});

test("Lists every file of supabase/schemas in config.toml", () => {
  const files = readdirSync(join(supabase, "schemas")).map((file) => join(supabase, "schemas", file));
  expect([...schemas].sort()).toEqual(files.sort());
});

// The Supabase CLI runs the statements of a migration without a transaction around them. A file that needs one, as for
// `lock table`, fails there. The test database was migrated by `migrate`, which runs each file in a transaction.
test("Migrates statement by statement, and grants no more where a project grants everything by default", async () => {
  const everybody = "to anon, authenticated, service_role";
  const migrated = await catalogueAfter(
    migrations,
    ["tables", "sequences", "functions"]
      .map((kind) => `alter default privileges in schema public grant all on ${kind} ${everybody}`)
      .join(";"),
  );
  const isOfSchema = (line: string) => !line.startsWith("default privileges");
  expect(migrated.filter(isOfSchema)).toEqual((await readCatalogue(client)).filter(isOfSchema));
});

test("Keeps every migration that landed as it was, and dates none in the future", () => {
  const listed = readFileSync(join(supabase, "history.sha256"), "utf8");
  const folders = ["archive/20261121", "archive/20261122", "migrations"];
  const present = folders.flatMap((folder) =>
    readdirSync(join(supabase, folder))
      .sort()
      .map((file) => {
        const hash = createHash("sha256").update(readFileSync(join(supabase, folder, file)));
        return `${hash.digest("hex")}  ${folder}/${file}\n`;
      }),
  );
  expect(
    present.join(""),
    "a new migration is added to supabase/history.sha256 (docs/guides/add-a-migration.md); one that is listed never changes",
  ).toBe(listed);
  const now = new Date().toISOString().replaceAll(/\D/g, "").slice(0, 14);
  expect(
    basename(migrations.at(-1) as string) < `${now}~`,
    "the newest migration is dated now or earlier, in UTC",
  ).toBe(true);
});

// Postgres refuses it from 15.20 on, and from minor versions of that time on; the embedded one may be older.
test("Adds no column with a default to a table whose rows a function with an SQL body takes", async () => {
  const { rows } = await client.query<{ name: string }>(`
    select distinct c.relnamespace::regnamespace || '.' || c.relname as name
    from pg_proc as p join pg_class as c on c.reltype = any (p.proargtypes) where p.prosqlbody is not null`);
  const tables = rows.map(({ name }) => name);
  expect(tables).toContain("public.budgets");
  const refused = migrations.filter((file) =>
    readFileSync(file, "utf8")
      .split(";")
      .some(
        (statement) =>
          /add column[^,]* default /i.test(statement) &&
          tables.includes(/alter table (?:only )?(\S+)/i.exec(statement)?.[1] ?? ""),
      ),
  );
  expect(refused.map((file) => basename(file))).toEqual([]);
});

test("Reads from the catalogue every change of the schema", async () => {
  const before = await readCatalogue(client);
  for (const change of [
    "alter table public.budgets add column note text",
    "alter table public.budgets alter column name drop not null",
    "alter table public.budgets drop constraint budgets_amount_is_money",
    "alter table public.budgets disable row level security",
    "alter table public.budgets owner to supabase_admin",
    "alter table public.budget_counts reset (fillfactor)",
    "comment on column public.budgets.amount is 'USD a month'",
    "create index budgets_name_idx on public.budgets (name)",
    "grant update (scope_type) on public.budgets to authenticated",
    "grant insert on public.budgets to anon",
    "grant usage on sequence public.alerts_number_seq to anon",
    'alter policy "A member reads the budgets of their workspaces" on public.budgets using (true)',
    "drop trigger budgets_are_audited on public.budgets",
    "alter table public.budgets disable trigger budgets_are_audited",
    "drop trigger follow_changed_email on auth.users",
    "grant execute on function private.load_prices(uuid) to authenticated",
    "alter function private.load_prices(uuid) security invoker",
    "alter function private.load_prices(uuid) set search_path = public",
    "alter function private.load_prices(uuid) owner to supabase_admin",
    "create function private.later() returns integer language sql as 'select 1'",
    "create table private.later ()",
    "create view public.later as select 1",
    "alter view public.budget_status set (security_invoker = false)",
    "create type private.later as enum ('now')",
    "create sequence private.later",
    "grant usage on schema private to anon",
    "alter default privileges for role postgres grant execute on functions to public",
    "alter role outlay_key bypassrls",
  ]) {
    await client.query("begin");
    await client.query(change);
    const after = await readCatalogue(client);
    await client.query("rollback");
    expect(after.join("\n") === before.join("\n"), change).toBe(false);
  }
  expect(await readCatalogue(client)).toEqual(before);
});

test("Has no policy whose name Postgres truncated", async () => {
  const { rows } = await client.query("select polname from pg_policy where octet_length(polname) >= 63");
  expect(rows).toEqual([]);
});
