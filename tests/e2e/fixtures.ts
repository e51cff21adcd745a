import { test as base, expect, type Page } from "@playwright/test";
import { Fixtures } from "@/tests/helpers/keys";
import { keepAwake } from "./awake";
import { type Running, runningVariable } from "./global-setup";
import { StoppableService } from "./stoppable-service";

/** The run's service, and its database as its owner. */
export type World = { fixtures: Fixtures; service: { baseUrl: string } };

/** Opens a page in another browser, for another user; both are closed when the test ends. */
export type OpenPage = () => Promise<Page>;

/** The browser's report of a refused call, which is not an error of the page. */
const refusal = /^Failed to load resource: the server responded with a status of 4(?:00|02|03|04|09|29) /;

export const test = base.extend<
  {
    /** Whether the test makes calls that the API refuses. */
    mayBeRefused: boolean;
    /** Whether the browser may report other errors: the test takes the network away, or asks for what is not there. */
    mayReportErrors: boolean;
    openPage: OpenPage;
  },
  {
    world: World;
    /** A second service on the database of the run, which a test may stop, and starts again before it ends. */
    stoppable: StoppableService;
  }
>({
  mayBeRefused: [false, { option: true }],
  mayReportErrors: [false, { option: true }],
  world: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures a fixture needs from this pattern.
    async ({}, use) => {
      const { baseUrl, adminUrl }: Running = JSON.parse(process.env[runningVariable] ?? "");
      const fixtures = new Fixtures(adminUrl);
      await use({ fixtures, service: { baseUrl } });
      await fixtures.close();
    },
    { scope: "worker" },
  ],
  baseURL: async ({ world }, use) => use(world.service.baseUrl),
  page: async ({ page, mayBeRefused, mayReportErrors }, use) => {
    const errors: string[] = [];
    page.on("console", (message) => {
      const isExpected = mayReportErrors || (mayBeRefused && refusal.test(message.text()));
      if (message.type() === "error" && !isExpected)
        errors.push(`${message.text()} ${message.location().url}`);
    });
    page.on("pageerror", (error) => errors.push(String(error)));
    await use(keepAwake(page));
    expect(errors).toEqual([]);
  },
  openPage: async ({ browser, world }, use) => {
    const pages: Page[] = [];
    await use(async () => {
      const page = await (await browser.newContext({ baseURL: world.service.baseUrl })).newPage();
      pages.push(page);
      return keepAwake(page);
    });
    for (const page of pages) await page.context().close();
  },
  stoppable: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures a fixture needs from this pattern.
    async ({}, use) => {
      const { url, adminUrl }: Running = JSON.parse(process.env[runningVariable] ?? "");
      const service = await StoppableService.start({ url, adminUrl });
      await use(service);
      await service.stop();
    },
    { scope: "worker" },
  ],
});

export { expect };
