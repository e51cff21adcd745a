import { startRun } from "@/tests/e2e/global-setup";
import { startHostedCluster } from "./cluster";

/** Starts the parts of Supabase and the service of a run of the browser tests. */
export default function setup(): Promise<() => Promise<void>> {
  return startRun(startHostedCluster);
}
