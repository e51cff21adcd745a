import type { TestProject } from "vitest/node";
import { ensureClient } from "@/scripts/build-client.mjs";
import { ensureBundles } from "@/scripts/bundles.mjs";
import { startTestCluster, type TestCluster } from "./cluster";
import { requireInstalled } from "./service";

type Running = { cluster: TestCluster; stop(): Promise<void> };

// Every project of a run calls this module in one process: they share one Postgres.
const shared = globalThis as { [key: symbol]: { running: Promise<Running>; users: number } | undefined };
const slot = Symbol.for("outlay.test-cluster");

/** Bundles what has changed since the last run, also the client for code, and starts the Postgres of this run. */
async function prepare(): Promise<Running> {
  requireInstalled();
  const [cluster] = await Promise.all([startTestCluster(), ensureBundles(), ensureClient()]);
  return cluster;
}

/** Vitest's global setup for every project whose tests need a database. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Empties Vite's BASE_URL; our setting of this name has another meaning.
  process.env.BASE_URL = "";
  shared[slot] ??= { running: prepare(), users: 0 };
  const current = shared[slot];
  current.users += 1;
  const { cluster, stop } = await current.running;
  project.provide("cluster", cluster);
  return async () => {
    current.users -= 1;
    if (current.users > 0) return;
    delete shared[slot];
    await stop();
  };
}
