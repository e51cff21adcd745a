import { createInterface } from "node:readline";
import { ensureBundles } from "@/scripts/bundles.mjs";
import { copyTemplate, hashQuickly, startTestCluster } from "@/tests/helpers/cluster";
import {
  requireInstalled,
  requirePages,
  type Service,
  startService,
  withPages,
} from "@/tests/helpers/service";

/** The addresses of the run's one service and of its database, as passed to the workers. */
export type Running = { baseUrl: string; url: string; adminUrl: string };

/** The variable that passes them. */
export const runningVariable = "OUTLAY_E2E_SERVICE";

/** Starts the service of a run on a Postgres of its own. Every test has workspaces of its own there. */
export default async function setup(): Promise<() => Promise<void>> {
  return startRun(startTestCluster);
}

/** @param startCluster starts the run's Postgres, and what signs people in beside it */
export async function startRun(startCluster: typeof startTestCluster): Promise<() => Promise<void>> {
  requireInstalled();
  requirePages();
  await ensureBundles();
  const { cluster, stop } = await startCluster();
  const database = await copyTemplate(cluster);
  if (!database.project) await hashQuickly(database);
  // Receivers of alerts that tests open on this machine; the outbox without the link that a start prints.
  const settings = { ...withPages, ALERT_ALLOWED_HOSTS: "127.0.0.1", OUTLAY_OUTBOX: "everyone" };
  const service = await startService(database, settings);
  printErrors(service.process);
  const running: Running = { baseUrl: service.baseUrl, url: database.url, adminUrl: database.adminUrl };
  process.env[runningVariable] = JSON.stringify(running);
  return async () => {
    await service.stop();
    // Waits for the last connections: one that is ended while closing fails the run.
    await database.drop();
    await stop();
  };
}

/** Prints errors that the service logs (levels 50 and 60) or Next prints, such as why a page could not be rendered, of which the browser gets only a code. */
function printErrors({ stdout, stderr }: Service["process"]): void {
  for (const stream of [stdout, stderr]) {
    if (!stream) continue;
    createInterface({ input: stream }).on("line", (line) => {
      if (/"level":[56]0|digest/.test(line)) console.error(line.slice(0, 2_000));
    });
  }
}
