import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
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
