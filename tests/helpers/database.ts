import { inject } from "vitest";
import { copyTemplate, type TestDatabase } from "./cluster";

export type { TestDatabase } from "./cluster";

/**
 * A migrated database for one test file, removed by `drop()`. `url` logs in as the service does (outlay_service),
 * `adminUrl` as the owner of the schema, `superuserUrl` as a superuser.
 */
export function createTestDatabase(): Promise<TestDatabase> {
  return copyTemplate(inject("cluster"));
}

/** An empty database without the bootstrap, for tests of the bootstrap and the migrations. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return copyTemplate(inject("cluster"), null);
}
