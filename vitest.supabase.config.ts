import { defineConfig, mergeConfig } from "vitest/config";
import base from "./vitest.config";

const { test: common, resolve } = base as { test: Record<string, unknown>; resolve: object };
const { projects: _, sequence: __, ...shared } = common;

/** Runs tests that elsewhere use the local sign-in with a Supabase project for every database. */
export default mergeConfig(
  { resolve, test: shared },
  defineConfig({
    test: {
      name: "supabase",
      include: ["tests/**/*.test.ts"],
      isolate: false,
      maxWorkers: 2,
      setupFiles: ["tests/helpers/await-new-day.ts", "tests/supabase/skip-unfit.ts"],
      globalSetup: ["tests/supabase/global-setup.ts"],
    },
  }),
);
