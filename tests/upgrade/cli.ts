import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bootstrapDatabaseAt, migrate } from "@/lib/db/migrate";
import { copyTemplate, type TestCluster, type TestDatabase } from "@/tests/helpers/cluster";
import { projectRoot } from "@/tests/helpers/project-root";
import { catalogueOf } from "./programs";

const supabase = join(projectRoot, "supabase");
const migrations = join(supabase, "migrations");
const archive = join(supabase, "archive");

type Run = { status: number | null; said: string };

/** `supabase db push`, in a folder that has `supabase/`. The CLI is fetched from npm. */
function push({ adminUrl }: TestDatabase, folder = projectRoot): Run {
  return run("npx", ["--yes", "supabase@3.1.0", "db", "push", `--remote=${adminUrl}`, "--yes"], folder);
}

function run(program: string, args: string[], cwd = projectRoot): Run {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: "utf8" });
  return { status, said: `${stdout}${stderr}` };
}

/** Calls `use` with an empty database that has what Supabase has. */
async function withDatabase(cluster: TestCluster, use: (database: TestDatabase) => Promise<void>) {
  const database = await copyTemplate(cluster, null);
  try {
    await bootstrapDatabaseAt(database.superuserUrl, join(supabase, "bootstrap"));
    await use(database);
  } finally {
    await database.drop();
  }
}

/**
 * Applies the migrations with the Supabase CLI and with psql: to a new database, one of each earlier
 * history, and one that `npm run migrate` migrated.
 * @throws Error with what is wrong
 */
export async function tryPrograms(cluster: TestCluster, wanted: string[]): Promise<void> {
  const say = (what: string) => process.stdout.write(`${what}\n`);
  const require = (holds: boolean, what: string, { said }: Run = { status: 0, said: "" }) => {
    if (!holds) throw new Error(`${what}: no\n${said}`);
    say(`${what}: yes`);
  };
  const isSame = async ({ adminUrl }: TestDatabase) =>
    JSON.stringify(await catalogueOf(adminUrl)) === JSON.stringify(wanted);

  await withDatabase(cluster, async (database) => {
    const pushed = push(database);
    require(pushed.status === 0, "supabase db push migrates a new project", pushed);
    require(await isSame(database), "it has the schema");
    require((await migrate(database.adminUrl, migrations, archive)).length ===
      0, "npm run migrate finds it up to date");
  });
  for (const history of ["20261121", "20261122"]) {
    await withDatabase(cluster, async (database) => {
      await migrate(database.adminUrl, join(archive, history));
      const refused = push(database);
      const isRefused = refused.status !== 0 && /Remote migration versions not found/.test(refused.said);
      require(isRefused, `supabase db push refuses a database of the history ${history}`, refused);
      await migrate(database.adminUrl, migrations, archive);
      require(await isSame(database), "npm run migrate brings it to the schema");
      const pushed = push(database);
      require(/up to date/.test(pushed.said), "supabase db push then finds it up to date", pushed);

      const copy = mkdtempSync(join(tmpdir(), "outlay-cli-"));
      cpSync(supabase, join(copy, "supabase"), { recursive: true });
      const next = join(copy, "supabase/migrations");
      writeFileSync(
        join(next, "20990101000000_create_next.sql"),
        "-- Next.\ncreate table private.next ();\n",
      );
      const added = push(database, copy);
      require(added.status === 0, "supabase db push applies a new file", added);
      require((await migrate(database.adminUrl, next, archive)).length === 0, "npm run migrate knows it");
      rmSync(copy, { recursive: true });
    });
  }
  if (run("psql", ["--version"]).status !== 0) throw new Error("psql is not installed.");
  for (const how of [[], ["--single-transaction"]]) {
    await withDatabase(cluster, async (database) => {
      for (const file of readdirSync(migrations).sort()) {
        const args = ["--quiet", "--set", "ON_ERROR_STOP=1", ...how, "--file", join(migrations, file)];
        const applied = run("psql", [database.adminUrl, ...args]);
        if (applied.status !== 0) throw new Error(`psql ${file}: ${applied.said}`);
      }
      require(await isSame(database), `psql ${how.join(" ") || "statement by statement"} makes the schema`);
    });
  }
}
