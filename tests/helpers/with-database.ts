import pg from "pg";
import { afterAll, beforeAll } from "vitest";
import { createTestDatabase, type TestDatabase } from "./database";
import { Fixtures } from "./keys";

/** A database, fixtures for it, and a connection to it as the service. */
export type OpenDatabase = { database: TestDatabase; fixtures: Fixtures; service: pg.Client };

/**
 * Creates a database for the tests of a file before they begin, and drops it after them.
 * @param use receives the database; keeps what the tests need
 */
export function withDatabase(use: (open: OpenDatabase) => void): void {
  const open: Partial<OpenDatabase> = {};
  beforeAll(async () => {
    const database = await createTestDatabase();
    open.database = database;
    const fixtures = new Fixtures(database.adminUrl);
    open.fixtures = fixtures;
    const service = new pg.Client({ connectionString: database.url });
    open.service = service;
    await service.connect();
    use({ database, fixtures, service });
  });
  afterAll(async () => {
    await open.service?.end();
    await open.fixtures?.close();
    await open.database?.drop();
  });
}
