import { inject } from "vitest";
import { copyTemplate, type TestDatabase } from "./cluster";

export type { TestDatabase } from "./cluster";

/**
 * A migrated database for one test file, gone with `drop()`. `url` logs in as the service does (outlay_service),
 * `adminUrl` as the owner of the schema, `superuserUrl` as a superuser.
 */
export function createTestDatabase(): Promise<TestDatabase> {
  return copyTemplate(inject("cluster"));
}

/** A database with nothing in it, not even the bootstrap: for tests of the bootstrap and the migrations themselves. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return copyTemplate(inject("cluster"), null);
}
