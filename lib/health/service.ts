import type { z } from "zod";
import type { health } from "@/lib/contract/reads";
import { database } from "@/lib/db/pool";
import packageJson from "@/package.json";

/** Whether the service can do its work: it can when its database answers. Never throws. */
export async function checkHealth(): Promise<z.output<typeof health>> {
  const reachable = await askDatabase().then(
    () => true,
    () => false,
  );
  return {
    status: reachable ? "ok" : "degraded",
    version: packageJson.version,
    checks: { database: reachable ? "ok" : "failing" },
  };
}

/** Asynchronous from its first line: where no database is configured, that too is an answer. */
async function askDatabase(): Promise<void> {
  await database().query("select 1");
}
