import { join, resolve } from "node:path";
import type { Claim } from "@/lib/db/embedded/claim.mjs";
import { startEmbeddedPostgres } from "@/lib/db/embedded/server";
import { bootstrapDatabaseAt, migrate } from "@/lib/db/migrate";
import { closeDatabase, configureDatabase } from "@/lib/db/pool";
import { type Env, EnvError, postgresUrl } from "@/lib/env";
import { type DemoAccess, seedDemo } from "@/lib/ledger/demo/seed";
import { demoAccessIn } from "./demo";
import { describeApplied, migrateDatabase } from "./migrate-database";
import { step } from "./progress.mjs";

/** What the HTTP server needs: a migrated database that this process is configured for. */
export type Services = {
  /** Publishes the service's address, which a second start on this data folder prints. */
  announce(address: string): void;
  /** Access to the demo workspace, where there is one. */
  demo?: DemoAccess;
  /** Waits for statements under way, closes the connections and stops what was started. */
  stop(): Promise<void>;
};

export type ServiceOptions = {
  settings: Env;
  /** The folder of the repository, where `supabase/` is. */
  root: string;
  /** A claim on the data folder that was made earlier in this process. */
  claim?: Claim;
  /** Receives messages about the embedded database later on. */
  log: (message: string) => void;
};

/**
 * Starts or connects to the database and migrates it. Without a database in the settings, it is the embedded one.
 * @throws EnvError, AlreadyRunningError, MigrationError, or Error with a message for people
 */
export async function startServices(options: ServiceOptions): Promise<Services> {
  const url = postgresUrl(options.settings);
  return url ? connectDatabase(url, options) : embedDatabase(options);
}

async function embedDatabase({ settings, root, claim, log }: ServiceOptions): Promise<Services> {
  if (settings.VERCEL || settings.SUPABASE_URL || settings.NEXT_PUBLIC_SUPABASE_URL) {
    const beside = settings.VERCEL ? "on Vercel" : "beside SUPABASE_URL";
    throw new EnvError(
      `The embedded database is for one machine and does not start ${beside}: set POSTGRES_URL.`,
    );
  }
  const dataDir = resolve(root, settings.OUTLAY_DATA_DIR);
  const started = await inStep("database", log, async (tell) => {
    const server = await startEmbeddedPostgres({
      dataDir,
      log: tell,
      ...(claim && { claim }),
    });
    return {
      result: server,
      text: `PostgreSQL on 127.0.0.1:${server.port}${server.reused ? ", still running" : ""}`,
    };
  });
  const stop = async () => {
    await closeDatabase();
    await started.stop();
  };
  try {
    await step("migrate", async () => {
      await bootstrapDatabaseAt(started.superuserUrl, join(root, "supabase/bootstrap"));
      const applied = await migrate(started.adminUrl, join(root, "supabase/migrations"));
      await started.enableServiceLogin();
      return describeApplied(applied);
    });
    configureDatabase({ url: started.url, adminUrl: started.adminUrl });
    const demo = demoAccessIn(dataDir);
    await step("seed", async () =>
      (await seedDemo(started.adminUrl, demo)) ? "the demo workspace" : "up to date",
    );
    return { announce: started.announce, demo, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function connectDatabase(url: string, { settings, root, claim }: ServiceOptions): Promise<Services> {
  // The data folder is not used.
  claim?.release();
  const adminUrl = settings.POSTGRES_URL_NON_POOLING ?? url;
  await step("migrate", () => migrateDatabase(adminUrl, root));
  configureDatabase({ url, adminUrl });
  return { announce: () => {}, stop: closeDatabase };
}

/** A step whose messages are lines of the start while it lasts, and entries of the log later on. */
async function inStep<T>(
  name: string,
  log: (message: string) => void,
  run: (tell: (message: string) => void) => Promise<{ result: T; text: string }>,
): Promise<T> {
  let tell = log;
  let outcome: { result: T; text: string } | undefined;
  await step(name, async (note) => {
    tell = note;
    outcome = await run((message) => tell(message));
    return outcome.text;
  });
  tell = log;
  if (!outcome) throw new Error(`The step ${name} had no outcome.`);
  return outcome.result;
}
