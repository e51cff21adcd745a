import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { startEmbeddedPostgres } from "@/lib/db/embedded/server";
import { bootstrapDatabaseAt, migrate } from "@/lib/db/migrate";

/**
 * The Supabase CLI, fetched from npm on demand. It is not a dependency, because it takes 140 MB and the service does not
 * need it.
 */
const cli = "supabase@3.1.0";

/** The folder of the repository: this file's bundle is in `dist/`. */
const root = fileURLToPath(new URL("..", import.meta.url));

/** A finding of the advisors, with the fields that are read here. */
type Finding = { name: string; metadata?: { schema?: string; name?: string } };

/**
 * `npm run advisors`: runs Supabase's advisors on a new database with every migration, and prints their warnings.
 * @returns the exit status: 0 if they have no warnings except those that `withoutBoundNames` removes
 */
export async function main(): Promise<number> {
  const dataDir = mkdtempSync(join(tmpdir(), "outlay-advisors-"));
  // The account that Postgres runs as must be able to enter this folder.
  chmodSync(dataDir, 0o755);
  const server = await startEmbeddedPostgres({ dataDir, log: () => {} });
  try {
    await bootstrapDatabaseAt(server.superuserUrl, join(root, "supabase/bootstrap"));
    await migrate(server.adminUrl, join(root, "supabase/migrations"));
    const advisors = [
      "db",
      "advisors",
      "--output-format",
      "json",
      `--remote=${server.adminUrl}`,
      "--level",
      "warn",
      "--fail-on",
      "none",
    ];
    const child = spawn("npm", ["exec", "--yes", `--package=${cli}`, "--", "supabase", ...advisors], {
      cwd: dataDir,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [[status], said] = await Promise.all([once(child, "exit"), text(child.stdout)]);
    if (status !== 0) return status ?? 1;
    const findings = await withoutBoundNames(JSON.parse(said).results, server.adminUrl);
    process.stdout.write(findings.length > 0 ? `${JSON.stringify(findings, null, 2)}\n` : "No warnings.\n");
    return findings.length > 0 ? 1 : 0;
  } finally {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/**
 * Removes warnings about a missing `search_path` of functions that it does not affect: the names in a body of standard SQL (`return`,
 * `begin atomic`) are bound when the function is created. The budget functions have such bodies, because Postgres inlines a function into
 * the calling statement only if it has no settings of its own. `tests/db/row-level-security.test.ts` lists them.
 */
async function withoutBoundNames(findings: Finding[], adminUrl: string): Promise<Finding[]> {
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(`
      select pronamespace::regnamespace || '.' || proname as name from pg_proc
      group by 1 having bool_and(prosqlbody is not null)`);
    const bound = new Set(rows.map(({ name }) => name));
    return findings.filter(
      ({ name, metadata }) =>
        name !== "function_search_path_mutable" || !bound.has(`${metadata?.schema}.${metadata?.name}`),
    );
  } finally {
    await client.end();
  }
}
