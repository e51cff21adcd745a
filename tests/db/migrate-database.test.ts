import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseEnv } from "@/lib/env";
import { requireConnections } from "@/server/connection-budget";
import { migrateDatabase } from "@/server/migrate-database";
import { createEmptyDatabase } from "@/tests/helpers/database";
import { projectRoot } from "@/tests/helpers/project-root";

test("Migrates an empty Postgres, and reports it as up to date the next time", async () => {
  const database = await createEmptyDatabase();
  const { host } = new URL(database.superuserUrl);
  const files = readdirSync(join(projectRoot, "supabase/migrations")).sort();
  expect(await migrateDatabase(database.superuserUrl, projectRoot)).toBe(
    `${host}: ${files.length} applied, to ${files.at(-1)}`,
  );
  expect(await migrateDatabase(database.superuserUrl, projectRoot)).toBe(`${host}: up to date`);
  await database.drop();
});

test("Names the database and the setting when the database cannot be reached", async () => {
  await expect(migrateDatabase("postgres://nobody:wrong@127.0.0.1:1/none", projectRoot)).rejects.toThrow(
    /^The database at 127\.0\.0\.1:1 \(POSTGRES_URL\) cannot be used: /,
  );
});

test("Lets one process have a pool that could open more connections than the database accepts, but not two", async () => {
  const database = await createEmptyDatabase();
  const settings = parseEnv({ POSTGRES_POOL_SIZE: "200" });
  await requireConnections(database.superuserUrl, settings, 1);
  await expect(requireConnections(database.superuserUrl, settings, 2)).rejects.toThrow("accept 412");
  await database.drop();
});
