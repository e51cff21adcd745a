import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import type { DeliveryOutcome } from "@/lib/alerts/delivery/claimed";
import { DeliveryPump } from "@/lib/alerts/delivery/pump";
import { startEmbeddedPostgres } from "@/lib/db/embedded/server";
import { bootstrapDatabaseAt, migrate } from "@/lib/db/migrate";
import { closeDatabase, configureDatabase } from "@/lib/db/pool";
import { addChannel, crossing, raise } from "@/tests/helpers/alerts";
import { makeDataDir } from "@/tests/helpers/cluster";
import { Fixtures } from "@/tests/helpers/keys";
import { projectRoot } from "@/tests/helpers/project-root";
import { treeCpuMs } from "./cpu";
import type { Figure, Measurement, Round } from "./report";

/** The contenders of a round: the queue alone, and while another transaction holds a snapshot, as a long report does. */
export type QueueName = "alone" | "held snapshot";

const channels = 50;
const alertsOfChannel = 60;
const deliveries = channels * alertsOfChannel;

/**
 * Measures the queue of alerts: how many deliveries a second one process claims and finishes, with receivers that answer at once.
 * While a snapshot is held, Postgres cannot remove the dead row versions of the queue.
 */
export async function measureQueue(rounds: number, say: (line: string) => void): Promise<Round<QueueName>[]> {
  const dataDir = makeDataDir();
  const postgres = await startEmbeddedPostgres({ dataDir, log: () => {} });
  try {
    await bootstrapDatabaseAt(postgres.superuserUrl, join(projectRoot, "supabase/bootstrap"));
    await migrate(postgres.adminUrl, join(projectRoot, "supabase/migrations"));
    await postgres.enableServiceLogin();
    configureDatabase({ url: postgres.url, adminUrl: postgres.adminUrl });
    const fixtures = new Fixtures(postgres.adminUrl);
    try {
      await measure(fixtures, postgres.pid);
      await vacuum(fixtures);
      const done: Round<QueueName>[] = [];
      for (let round = 1; round <= rounds; round += 1) {
        const alone = await measure(fixtures, postgres.pid);
        await vacuum(fixtures);
        const held = await whileSnapshotIsHeld(postgres.adminUrl, () => measure(fixtures, postgres.pid));
        await vacuum(fixtures);
        say(`round ${round}: alone ${alone.perSecond.toFixed(0)}/s, held ${held.perSecond.toFixed(0)}/s`);
        done.push({ alone, "held snapshot": held });
      }
      return done;
    } finally {
      await fixtures.close();
      await closeDatabase();
    }
  } finally {
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Removes what a load left behind, and tells the planner that the queue is empty, as autovacuum does. */
const vacuum = ({ sql }: Fixtures) => sql.query("vacuum analyze public.deliveries");

async function whileSnapshotIsHeld<T>(adminUrl: string, run: () => Promise<T>): Promise<T> {
  const report = new pg.Client({ connectionString: adminUrl });
  await report.connect();
  try {
    await report.query("begin isolation level repeatable read");
    await report.query("select count(*) from public.alerts");
    return await run();
  } finally {
    await report.end();
  }
}

const delivered = async (): Promise<DeliveryOutcome> => ({ outcome: "delivered", status: 204 });

/** Fills the queue of a new workspace, processes it, and removes the workspace. */
async function measure(fixtures: Fixtures, postgresPid: () => number): Promise<Measurement> {
  const workspace = await fixtures.workspace();
  for (let channel = 0; channel < channels; channel += 1) {
    await addChannel(fixtures, workspace, {
      name: `Channel ${channel}`,
      address: "https://receiver.example/",
    });
  }
  // Each alert is sent to each channel; alerts of different budgets do not wait for each other.
  const alerts = Array.from({ length: alertsOfChannel }, () =>
    crossing(workspace, { subject_id: randomUUID() }),
  );
  await raise(fixtures, ...alerts);
  const before = { own: process.cpuUsage(), postgres: treeCpuMs(postgresPid()) };
  const beganMs = performance.now();
  const pump = new DeliveryPump(delivered);
  await pump.look();
  await pump.drain(Number.POSITIVE_INFINITY);
  const seconds = (performance.now() - beganMs) / 1000;
  const { user, system } = process.cpuUsage(before.own);
  const postgres = treeCpuMs(postgresPid()) - before.postgres;
  const { rows } = await fixtures.sql.query(
    "select count(*)::int as count from public.deliveries where workspace_id = $1 and state = 'delivered'",
    [workspace],
  );
  if (rows[0].count !== deliveries) throw new Error(`${rows[0].count} of ${deliveries} were delivered.`);
  await fixtures.sql.query("delete from public.workspaces where id = $1", [workspace]);
  return {
    requests: deliveries,
    perSecond: deliveries / seconds,
    cpuMs: (user + system) / 1000 / deliveries,
    postgresCpuMs: postgres / deliveries,
    p50Ms: 0,
    p99Ms: 0,
    p999Ms: 0,
    refused: 0,
  };
}

export const queueFigures: Figure<QueueName>[] = [
  { name: "deliveries of alerts", unit: "/s", of: (round) => round.alone.perSecond },
  {
    name: "deliveries of alerts while a snapshot is held",
    unit: "/s",
    of: (round) => round["held snapshot"].perSecond,
  },
  {
    name: "a held snapshot: deliveries a second more or less",
    unit: "%",
    of: (round) => 100 * (round["held snapshot"].perSecond / round.alone.perSecond - 1),
  },
  {
    name: "a held snapshot: more CPU of Postgres for a delivery",
    unit: "%",
    of: (round) => 100 * (round["held snapshot"].postgresCpuMs / round.alone.postgresCpuMs - 1),
  },
];
