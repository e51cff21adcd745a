import { fileURLToPath } from "node:url";
import { env, postgresUrl } from "@/lib/env";
import { migrateDatabase } from "@/server/migrate-database";

/** The folder of the repository: this file's bundle is in `dist/`. */
const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * `npm run migrate`: migrates the database in the settings, without serving. `npm start` does this first; the command is
 * for deployments without `npm start`, such as Vercel.
 * @returns 0
 */
export async function main(): Promise<number> {
  const settings = env();
  const url = postgresUrl(settings);
  if (!url) throw new Error("Set POSTGRES_URL: the embedded database is brought up to date by `npm start`.");
  const done = await migrateDatabase(settings.POSTGRES_URL_NON_POOLING ?? url, root);
  process.stdout.write(`${done}\n`);
  return 0;
}
