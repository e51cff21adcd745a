import { afterAll, beforeAll } from "vitest";
import { hashQuickly } from "./cluster";
import { createTestDatabase, type TestDatabase } from "./database";
import type { OwnHarness } from "./harness";
import { Fixtures } from "./keys";
import { type Service, startService } from "./service";

/** A database, and the services that were started on it so far, by their settings as JSON. */
type Shared = { database: TestDatabase; services: Map<string, Service[]> };

// Files of a worker may load this module once each.
const kept = globalThis as { [key: symbol]: Promise<Shared> | undefined };
const slot = Symbol.for("outlay.shared-service");

async function createDatabase(): Promise<Shared> {
  const database = await createTestDatabase();
  await hashQuickly(database);
  // Vitest ends a worker by SIGTERM when no more files are for it. The database goes with the run's Postgres.
  process.once("SIGTERM", () => process.exit());
  return { database, services: new Map() };
}

const isRunning = ({ process: child }: Service) => child.exitCode === null && child.signalCode === null;

/** The first services with these settings, which are started where there are fewer. */
async function serve(shared: Shared, count: number, settings: Record<string, string>): Promise<Service[]> {
  const key = JSON.stringify(settings);
  const running = (shared.services.get(key) ?? []).filter(isRunning);
  shared.services.set(key, running);
  const missing = Array.from({ length: Math.max(0, count - running.length) });
  for (const service of await Promise.all(missing.map(() => startService(shared.database, settings)))) {
    process.once("exit", () => service.process.kill("SIGKILL"));
    running.push(service);
  }
  return running.slice(0, count);
}

/**
 * What `withHarness()` sets up, shared with other files that one worker runs: starting a service takes longer than many of them.
 * For files whose tests have workspaces and users of their own, write little, and neither compare what the whole database contains nor change
 * how the service runs. The files of a worker run one after another. They share the database, and the services with the same settings;
 * what a file starts itself is its own.
 */
export function withSharedHarness({
  services = 1,
  settings = {},
}: {
  services?: number;
  settings?: Record<string, string>;
} = {}): OwnHarness {
  const harness = { services: [] as Service[] } as OwnHarness;
  const started: Service[] = [];
  harness.start = async (extra = {}) => {
    const service = await startService(harness.database, { ...settings, ...extra });
    started.push(service);
    harness.services.push(service);
    return service;
  };
  beforeAll(async () => {
    kept[slot] ??= createDatabase();
    const shared = await kept[slot];
    harness.database = shared.database;
    harness.services.push(...(await serve(shared, services, settings)));
    harness.fixtures = new Fixtures(shared.database.adminUrl, { isShared: true });
  });
  afterAll(async () => {
    await Promise.all(started.map((service) => service.stop()));
    await harness.fixtures?.close();
  });
  return harness;
}
