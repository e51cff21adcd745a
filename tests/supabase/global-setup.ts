import type { TestProject as VitestProject } from "vitest/node";
import { ensureBundles } from "@/scripts/bundles.mjs";
import { requireInstalled } from "@/tests/helpers/service";
import { startHostedCluster } from "./cluster";

/** Starts the parts of Supabase for a run of Vitest. */
export default async function setup(project: VitestProject): Promise<() => Promise<void>> {
  process.env.BASE_URL = "";
  requireInstalled();
  await ensureBundles();
  const { cluster, stop } = await startHostedCluster();
  project.provide("cluster", cluster);
  return stop;
}
