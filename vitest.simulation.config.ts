import { defineConfig, mergeConfig } from "vitest/config";
import base from "./vitest.config";

const { test: common, resolve } = base as { test: Record<string, unknown>; resolve: object };
const { projects: _, sequence: __, ...shared } = common;

/** Runs the simulation, which takes too long to be part of `npm test`. */
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
