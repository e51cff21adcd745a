import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { generateSecret } from "@/lib/access/secrets/secret";
import { addDemoBills } from "@/lib/bills/demo";
import type { Claim } from "@/lib/db/embedded/claim.mjs";
import { startEmbeddedPostgres } from "@/lib/db/embedded/server";
import { bootstrapDatabaseAt, migrate } from "@/lib/db/migrate";
import { closeDatabase, configureDatabase } from "@/lib/db/pool";
import { type Env, EnvError, postgresUrl } from "@/lib/env";
import { type DemoAccess, seedDemo } from "@/lib/ledger/demo/seed";
import { announceSealingKey, newSealingKey } from "@/lib/seal";
import { connectionsToAllow, requireConnections } from "./connection-budget";
import { describeApplied, migrateDatabase } from "./migrate-database";
import { step } from "./progress.mjs";

/** A migrated database for which this process is configured. */
export type Services = {
  /** Stores the service's address in the data folder, so that a second start can print it. */
  announce(address: string): void;
  /** The secret that opens the outbox and the metrics. */
  operatorToken: string;
  /** Access to the demo workspace, if there is one. */
  demo?: DemoAccess;
  /** Waits for running statements, closes the connections and stops the embedded database. */
  stop(): Promise<void>;
};

export type ServiceOptions = {
  settings: Env;
  /** The folder of the repository, where `supabase/` is. */
  root: string;
  /** The number of processes that will serve, each with a pool of its own. */
  processes: number;
  /** A claim on the data folder that was made earlier in this process. */
  claim?: Claim;
  /** Receives messages about the embedded database after the start. */
  log: (message: string) => void;
};

/**
 * Connects to the database in the settings, or starts the embedded one, and migrates it.
 * @throws EnvError, AlreadyRunningError, MigrationError, NewerDatabaseError, ChangedHistoryError, or Error for users
 */
export async function startServices(options: ServiceOptions): Promise<Services> {
  const url = postgresUrl(options.settings);
  return url ? connectDatabase(url, options) : embedDatabase(options);
}

async function embedDatabase({ settings, root, processes, claim, log }: ServiceOptions): Promise<Services> {
  if (settings.VERCEL || settings.SUPABASE_URL || settings.NEXT_PUBLIC_SUPABASE_URL) {
    const beside = settings.VERCEL ? "on Vercel" : "beside SUPABASE_URL";
    throw new EnvError(
      `The embedded database is for one machine and does not start ${beside}: set POSTGRES_URL.`,
    );
  }
  const dataDir = resolve(root, settings.OUTLAY_DATA_DIR);
  const started = await inStep("database", log, async (report) => {
    const server = await startEmbeddedPostgres({
      dataDir,
      log: report,
      ...(claim && { claim }),
      overrides: { max_connections: String(connectionsToAllow(settings, processes)) },
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
      const applied = await migrate(
        started.adminUrl,
        join(root, "supabase/migrations"),
        join(root, "supabase/archive"),
      );
      await started.enableServiceLogin();
      await requireConnections(started.adminUrl, settings, processes);
      return describeApplied(applied);
    });
    configureDatabase({ url: started.url, adminUrl: started.adminUrl });
    announceSealingKey(keptIn(join(dataDir, "sealing-key"), newSealingKey));
    const demo = demoAccessIn(dataDir);
    await step("seed", async () =>
      (await seedDemo(started.adminUrl, demo, Date.now(), addDemoBills))
        ? "the demo workspace"
        : "up to date",
    );
    return { announce: started.announce, operatorToken: operatorTokenIn(dataDir), demo, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function connectDatabase(
  url: string,
  { settings, root, processes, claim }: ServiceOptions,
): Promise<Services> {
  // This service does not need the data folder, so another one may use it.
  claim?.release();
  const adminUrl = settings.POSTGRES_URL_NON_POOLING ?? url;
  await step("migrate", () => migrateDatabase(adminUrl, root));
  // A pooler at another address accepts more connections than its Postgres.
  const isDirect = new URL(url).host === new URL(adminUrl).host;
  if (isDirect) await requireConnections(adminUrl, settings, processes);
  configureDatabase({ url, adminUrl });
  return { announce: () => {}, operatorToken: newOperatorToken(), stop: closeDatabase };
}

/** Runs a step. Its messages are printed while it runs, and logged afterwards. */
async function inStep<T>(
  name: string,
  log: (message: string) => void,
  run: (report: (message: string) => void) => Promise<{ result: T; text: string }>,
): Promise<T> {
  let report = log;
  let outcome: { result: T; text: string } | undefined;
  await step(name, async (note) => {
    report = note;
    outcome = await run((message) => report(message));
    return outcome.text;
  });
  report = log;
  if (!outcome) throw new Error(`The step ${name} had no outcome.`);
  return outcome.result;
}

/** The demo's secrets in an embedded database. They are created once and stored in files of the data folder. */
function demoAccessIn(dataDir: string): DemoAccess {
  return {
    email: "demo@outlay.local",
    password: keptIn(join(dataDir, "demo-password"), () => randomBytes(9).toString("base64url")),
    key: keptIn(join(dataDir, "demo-key"), generateSecret),
  };
}

/** The operator's token of an embedded database. It stays the same over starts, so that a printed link stays valid. */
function operatorTokenIn(dataDir: string): string {
  return keptIn(join(dataDir, "operator-token"), newOperatorToken);
}

/** A new token for the operator (`lib/access/operator.ts`). */
function newOperatorToken(): string {
  return randomBytes(24).toString("base64url");
}

function keptIn(file: string, make: () => string): string {
  if (existsSync(file)) return readFileSync(file, "utf8").trim();
  const secret = make();
  writeFileSync(file, `${secret}\n`, { mode: 0o600 });
  return secret;
}
