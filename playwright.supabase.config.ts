import base from "./playwright.config";
import { unfit } from "./tests/supabase/unfit.mjs";

const titles = Object.keys(unfit).map((key) =>
  key.replace(/^.* > /, "").replace(/[.*+?^${}()|[\]\\]/g, "\\$&"),
);

/** Runs the browser tests of what a Supabase project has a part in, with one. */
export default {
  ...base,
  testDir: "tests",
  testMatch: ["e2e/{account,invite,second-factor,oauth,deletion}.spec.ts", "supabase/*.spec.ts"],
  globalSetup: "tests/supabase/browser-setup.ts",
  grepInvert: new RegExp(titles.join("|")),
  // Emptied when a run begins.
  outputDir: "test-results/supabase",
  workers: 2,
};
