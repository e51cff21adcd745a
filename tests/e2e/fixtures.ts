import { test as base, expect } from "@playwright/test";
import { copyTemplate, startTestCluster, type TestDatabase } from "@/tests/helpers/cluster";
import { Fixtures } from "@/tests/helpers/keys";
import { type Service, startService } from "@/tests/helpers/service";

/** A service on a database of its own, for all tests of a worker. */
export type World = { database: TestDatabase; fixtures: Fixtures; service: Service };

export const test = base.extend<{ noConsoleErrors: undefined }, { world: World }>({
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
      await stop();
    },
    { scope: "worker", timeout: 60_000 },
  ],
  baseURL: async ({ world }, use) => use(world.service.baseUrl),
  noConsoleErrors: [
    async ({ page }, use) => {
      const errors: string[] = [];
      page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
      page.on("pageerror", (error) => errors.push(String(error)));
      await use(undefined);
      expect(errors).toEqual([]);
    },
    { auto: true },
  ],
});

export { expect };
