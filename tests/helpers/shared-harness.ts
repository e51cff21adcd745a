import { afterAll, beforeAll } from "vitest";
import { hashQuickly } from "./cluster";
import { createTestDatabase, type TestDatabase } from "./database";
import type { Harness } from "./harness";
import { Fixtures } from "./keys";
import { type Service, startService } from "./service";

type Shared = { database: TestDatabase; service: Service };

// Files of a worker may load this module once each.
const kept = globalThis as { [key: symbol]: Promise<Shared> | undefined };
const slot = Symbol.for("outlay.shared-service");

async function start(): Promise<Shared> {
  const database = await createTestDatabase();
  await hashQuickly(database);
  const service = await startService(database);
  // Vitest ends a worker by SIGTERM when no more files are for it. The database goes with the run's Postgres.
  process.once("exit", () => service.process.kill("SIGKILL"));
  process.once("SIGTERM", () => process.exit());
  return { database, service };
}

async function isRunning(shared: Promise<Shared>): Promise<boolean> {
  const { process: child } = (await shared).service;
  return child.exitCode === null && child.signalCode === null;
}

/**
 * What `withHarness()` sets up, shared with other files that one worker runs: starting a service takes longer than many of them.
 * For files whose tests have workspaces and users of their own, write little, and neither compare what the whole database contains nor change
 * how the service runs. The files of a worker run one after another.
 */
export function withSharedHarness(): Harness {
  const harness = { services: [] as Service[] } as Harness;
  beforeAll(async () => {
    const earlier = kept[slot];
    const shared = earlier && (await isRunning(earlier).catch(() => false)) ? earlier : start();
    kept[slot] = shared;
    const { database, service } = await shared;
    harness.database = database;
    harness.services.push(service);
    harness.fixtures = new Fixtures(database.adminUrl);
  });
  afterAll(async () => {
    await harness.fixtures?.close();
  });
  return harness;
}
