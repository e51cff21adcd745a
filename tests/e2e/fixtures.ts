import { test as base, expect } from "@playwright/test";
import { copyTemplate, startTestCluster, type TestDatabase } from "@/tests/helpers/cluster";
import { Fixtures } from "@/tests/helpers/keys";
import { type Service, startService } from "@/tests/helpers/service";

/** A service on a database of its own, for all tests of a worker. */
export type World = { database: TestDatabase; fixtures: Fixtures; service: Service };

/** The browser's own note that a call was answered with a refusal: no error of the page's. */
const refusal = /^Failed to load resource: the server responded with a status of 4(?:00|02|03|09|29) /;

export const test = base.extend<
  {
    noConsoleErrors: undefined;
    /** Whether the test makes calls that the API refuses. */
    mayBeRefused: boolean;
  },
  { world: World }
>({
  mayBeRefused: [false, { option: true }],
  world: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures a fixture needs from this pattern.
    async ({}, use) => {
      const { cluster, stop } = await startTestCluster();
      const database = await copyTemplate(cluster);
      const fixtures = new Fixtures(database.adminUrl);
      const service = await startService(database);
      await use({ database, fixtures, service });
      await service.stop();
      await fixtures.close();
      // Waits for the last connections: one that Postgres tells off while it says goodbye fails the run.
      await database.drop();
      await stop();
    },
    { scope: "worker", timeout: 60_000 },
  ],
  baseURL: async ({ world }, use) => use(world.service.baseUrl),
  noConsoleErrors: [
    async ({ page, mayBeRefused }, use) => {
      const errors: string[] = [];
      page.on("console", (message) => {
        const isExpected = mayBeRefused && refusal.test(message.text());
        if (message.type() === "error" && !isExpected) errors.push(message.text());
      });
      page.on("pageerror", (error) => errors.push(String(error)));
      await use(undefined);
      expect(errors).toEqual([]);
    },
    { auto: true },
  ],
});

export { expect };
