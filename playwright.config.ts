import { defineConfig, devices } from "@playwright/test";

export default defineConfig({
  testDir: "tests/e2e",
  testMatch: "**/*.spec.ts",
  // One service and one database a worker; two cores.
  workers: 2,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  forbidOnly: Boolean(process.env.CI),
  reporter: [["list"]],
  use: {
    trace: "retain-on-failure",
    launchOptions: {
      ...(process.env.CHROMIUM_PATH && { executablePath: process.env.CHROMIUM_PATH }),
      args: ["--no-sandbox", "--disable-background-networking"],
    },
  },
  projects: [
    { name: "desktop", use: { ...devices["Desktop Chrome"], colorScheme: "light" } },
    {
      name: "phone",
      // Every page, and what is of another shape on a phone: the drawer, lists for tables, sheets for dialogs.
      testMatch: /(pages|shell|activity|keys|journey)\.spec\.ts$/,
      use: { ...devices["Pixel 7"], colorScheme: "dark" },
    },
  ],
});
