import { afterAll, beforeAll } from "vitest";
import { closeDatabase, configureDatabase } from "@/lib/db/pool";
import type { TestDatabase } from "./database";

/**
 * Lets the tests of a file call the service's functions in this process: connects them to a database before the tests begin,
 * and closes the connections after them. Call it after the helper that creates the database, which then drops it last.
 */
export function connectService(database: () => TestDatabase): void {
  beforeAll(() => configureDatabase(database()));
  afterAll(closeDatabase);
}
