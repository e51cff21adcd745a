import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { build } from "esbuild";
import { Client } from "pg";
import { readCatalogue } from "@/tests/helpers/catalogue";
import type { TestDatabase } from "@/tests/helpers/cluster";
import { projectRoot } from "@/tests/helpers/project-root";

/** Where the server starts Next: it serves no pages here, and the versions have no build of them. */
const withoutPages = `
  const answer = (request, response) => response.writeHead(404).end();
  export default () => ({ prepare: async () => {}, getRequestHandler: () => answer, getUpgradeHandler: () => answer, close: async () => {} });
`;

/** Bundles the server of a checked-out version. @returns the path of the bundle, nothing where it cannot be built */
export async function bundleServer(checkout: string): Promise<string | undefined> {
  mkdirSync(join(checkout, "dist"), { recursive: true });
  const stub = join(checkout, "dist/next.mjs");
  writeFileSync(stub, withoutPages);
  const server = join(checkout, "dist/server.mjs");
  return bundle(checkout, "server/main.ts", server, { next: stub }).then(
    () => server,
    () => undefined,
  );
}

/** Bundles the server and the command `npm run migrate` of the present version. */
export async function bundlePresent(): Promise<void> {
  await bundle(projectRoot, "server/commands/migrate.ts", join(projectRoot, "dist/migrate.mjs"));
  await bundle(projectRoot, "server/main.ts", join(projectRoot, "dist/server.mjs"));
}

async function bundle(root: string, entry: string, outfile: string, alias: Record<string, string> = {}) {
  await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    alias,
    logLevel: "silent",
  });
}

/** The schema of a database, without the order of columns, which versions added in another order. */
export async function catalogueOf(url: string): Promise<string[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await readCatalogue(client, false);
  } finally {
    await client.end();
  }
}

const attempt = (database: TestDatabase) =>
  spawn(
    process.execPath,
    ["--input-type=module", "--eval", `process.exitCode = await (await import("./dist/migrate.mjs")).main()`],
    {
      cwd: projectRoot,
      env: {
        ...process.env,
        NODE_ENV: "production",
        POSTGRES_URL: database.url,
        POSTGRES_URL_NON_POOLING: database.adminUrl,
      },
      stdio: ["ignore", "ignore", "pipe"],
    },
  );

/**
 * Upgrades a database with `npm run migrate`, which is killed twice on the way: after a third and two thirds of the files.
 * @returns how often it was killed. @throws Error with what the last attempt said
 */
export async function upgradeKilled(database: TestDatabase): Promise<number> {
  const client = new Client({ connectionString: database.adminUrl });
  await client.connect();
  const recorded = async () =>
    (
      await client.query<{ count: number }>(
        "select count(*)::int as count from supabase_migrations.schema_migrations",
      )
    ).rows[0]?.count ?? 0;
  const first = await recorded();
  let kills = 0;
  try {
    for (const after of [1, 30]) {
      const child = attempt(database);
      const ended = once(child, "exit");
      const target = first + after;
      while (child.exitCode === null && (await recorded()) < target) await sleep(1);
      if (child.exitCode !== null) break;
      child.kill("SIGKILL");
      await ended;
      kills += 1;
    }
  } finally {
    await client.end();
  }
  const child = attempt(database);
  let said = "";
  child.stderr.on("data", (chunk) => {
    said += chunk;
  });
  const [status] = await once(child, "exit");
  if (status !== 0) throw new Error(`npm run migrate ended with ${status}: ${said.trim().slice(0, 600)}`);
  return kills;
}
