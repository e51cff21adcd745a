import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { describeSchema } from "@/lib/db/describe-schema";
import { startEmbeddedPostgres } from "@/lib/db/embedded/server";
import { bootstrapDatabaseAt, migrate } from "@/lib/db/migrate";

/** The folder of the repository: this file's bundle is in `dist/`. */
const root = fileURLToPath(new URL("..", import.meta.url));

/** `npm run schema`: writes `supabase/schema.sql`, the schema of a new database with every migration. @returns 0 */
export async function main(): Promise<number> {
  const dataDir = mkdtempSync(join(tmpdir(), "outlay-schema-"));
  // The account under which Postgres runs must be able to enter the folder.
  chmodSync(dataDir, 0o755);
  const server = await startEmbeddedPostgres({ dataDir, log: () => {} });
  try {
    await bootstrapDatabaseAt(server.superuserUrl, join(root, "supabase/bootstrap"));
    await migrate(server.adminUrl, join(root, "supabase/migrations"));
    const client = new Client({ connectionString: server.adminUrl });
    await client.connect();
    try {
      writeFileSync(join(root, "supabase/schema.sql"), await describeSchema(client));
    } finally {
      await client.end();
    }
    return 0;
  } finally {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
