import { beforeAll } from "vitest";
import { type Simulator, simulateProviders } from "@/tests/providers/simulator/simulate-providers";
import type { OwnHarness } from "./harness";
import { withSharedHarness } from "./shared-harness";

// Files of a worker may load this module once each.
const kept = globalThis as { [key: symbol]: Promise<Simulator> | undefined };
const slot = Symbol.for("outlay.shared-providers");

/** A service that asks simulated providers in the background. */
export type WithProviders = { harness: OwnHarness; simulator: Simulator };

/**
 * Shares a service that asks simulated providers with other files that one worker runs, as `withSharedHarness()` does. `simulator` is set
 * before the first test; it ends with the worker.
 */
export function withProviders(): WithProviders {
  const settings: Record<string, string> = {};
  const made = {} as WithProviders;
  beforeAll(async () => {
    kept[slot] ??= simulateProviders();
    made.simulator = await kept[slot];
    settings.PROVIDER_URLS = made.simulator.providerUrls;
  });
  // Starts its service after the line above has set the settings.
  made.harness = withSharedHarness({ settings });
  return made;
}
