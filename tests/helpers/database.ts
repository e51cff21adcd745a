import { inject } from "vitest";
import { copyTemplate, type TestDatabase } from "./cluster";

export type { TestDatabase } from "./cluster";

/**
 * A migrated database for one test file, removed by `drop()`. `url` logs in as the service does (outlay_service),
 * `adminUrl` as the owner of the schema, `superuserUrl` as a superuser.
 * @param settings of the database's Supabase project, in runs that have one
 */
export function createTestDatabase(settings: Record<string, string> = {}): Promise<TestDatabase> {
  const cluster = inject("cluster");
  return copyTemplate(cluster, cluster.template, settings);
}

/** An empty database without the bootstrap, for tests of the bootstrap and the migrations. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return copyTemplate(inject("cluster"), null);
}
