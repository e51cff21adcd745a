import { defineConfig, mergeConfig } from "vitest/config";
import base from "./vitest.config";

const { test: common, resolve } = base as { test: Record<string, unknown>; resolve: object };
const { projects: _, sequence: __, ...shared } = common;

/** Runs the simulation, which is no part of `npm test`: what Postgres decides may order the steps of a seed differently. */
export default mergeConfig(
  { resolve, test: shared },
  defineConfig({
    test: {
      name: "simulation",
      include: ["tests/simulation/*.test.ts"],
      setupFiles: ["tests/helpers/await-new-day.ts"],
      globalSetup: ["tests/helpers/global-setup.ts"],
    },
  }),
);
