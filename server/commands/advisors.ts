import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startEmbeddedPostgres } from "@/lib/db/embedded/server";
import { bootstrapDatabaseAt, migrate } from "@/lib/db/migrate";

/**
 * The Supabase CLI, fetched from npm on demand. It is not a dependency, because it takes 140 MB and the service does not
 * need it.
 */
const cli = "supabase@3.1.0";

/** The folder of the repository: this file's bundle is in `dist/`. */
const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * `npm run advisors`: runs Supabase's advisors on a new database with every migration.
 * @returns 0 when they report no warning
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
      `--remote=${server.adminUrl}`,
      "--level",
      "warn",
      "--fail-on",
      "warn",
    ];
    const child = spawn("npm", ["exec", "--yes", `--package=${cli}`, "--", "supabase", ...advisors], {
      cwd: dataDir,
      stdio: ["ignore", "inherit", "inherit"],
    });
    const [status] = await once(child, "exit");
    return status ?? 1;
  } finally {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
