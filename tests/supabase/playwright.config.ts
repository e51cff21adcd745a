import base from "../../playwright.config";

/** Runs the browser tests of what a Supabase project has a part in. */
export default {
  ...base,
  testDir: "..",
  testMatch: ["e2e/{account,invite,second-factor,oauth,deletion}.spec.ts", "supabase/*.spec.ts"],
  globalSetup: "./browser-setup.ts",
  outputDir: "../../test-results",
  workers: 2,
};
