import { defineConfig, devices } from "@playwright/test";
import { chromiumOnPath } from "./scripts/chromium.mjs";

// Where neither names one, Playwright's own.
const executablePath = process.env.CHROMIUM_PATH || chromiumOnPath();

export default defineConfig({
  testDir: "tests/e2e",
  testMatch: "**/*.spec.ts",
  // All tests share one service and one database.
  globalSetup: "tests/e2e/global-setup.ts",
  fullyParallel: true,
  workers: 3,
  // A test goes through several journeys in one workspace, on a machine that may be busy.
  timeout: 120_000,
  expect: { timeout: 10_000 },
  forbidOnly: Boolean(process.env.CI),
  reporter: [["list"]],
  use: {
    // Recording traces takes a quarter of the processor time of a run. To see what a failed test did, run it with
    // `--trace on`.
    trace: "off",
    screenshot: "only-on-failure",
    // The tests of a worker run in one page, one after another: to start the process of a page takes five times what most pages
    // take. Playwright clears cookies, cache, storage, routes and scripts in between.
    reuseContext: true,
    contextOptions: { reducedMotion: "reduce" },
    launchOptions: {
      ...(executablePath && { executablePath }),
      args: ["--no-sandbox", "--disable-background-networking"],
    },
  },
  projects: [
    { name: "desktop", use: { ...devices["Desktop Chrome"], colorScheme: "light" } },
    {
      name: "phone",
      // The tests of what differs on a phone: the drawer, lists instead of tables, sheets instead of dialogs.
      grep: /@phone/,
      use: { ...devices["Pixel 7"], colorScheme: "dark" },
    },
  ],
});
