import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What begins first: the file that waits for whole minutes, then those that take longest because they kill what they started. */
const first = [/\/tests\/api\/keys\/rate-limit\.test\.ts$/, /\/tests\/faults\//];

/** Orders the files so that the long ones begin first, and the workers end at about the same time. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const turnOf = ({ moduleId }: TestSpecification) => {
      const turn = first.findIndex((pattern) => pattern.test(moduleId));
      return turn < 0 ? first.length : turn;
    };
    return sorted.sort((a, b) => turnOf(a) - turnOf(b));
  }
}

/**
 * A project whose tests use a real Postgres: one server per run, with databases from `tests/helpers/database.ts`.
 * @param folders of `tests`
 * @param isolate whether each file runs in a process of its own: only where files set the settings of their process, or leave
 *   it in another state. Loading the modules again for every file takes longer than most files, and tests nothing more.
 */
const onDatabase = (name: string, isolate: boolean, folders: string[]) => ({
  extends: true as const,
  test: {
    name,
    isolate,
    include: folders.map((folder) => `tests/${folder}/**/*.test.ts`),
    setupFiles: ["tests/helpers/await-new-day.ts"],
    globalSetup: ["tests/helpers/global-setup.ts"],
  },
});

export default defineConfig({
  resolve: {
    alias: {
      "@": fileURLToPath(new URL(".", import.meta.url)),
      // Unit tests format figures without a page, as a browser's event handlers do.
      "#reader": fileURLToPath(new URL("components/reader/of-browser.tsx", import.meta.url)),
    },
  },
  test: {
    // One more than the number of cores, because some tests spend a minute waiting.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // `--changed` runs what imports a changed file. A changed package.json would mean every test, as `npm test` runs them.
    forceRerunTriggers: [],
    setupFiles: ["tests/helpers/name-causes.ts"],
    // Generous, because a busy machine is slow and its tests must not fail for that.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // So long may a condition take that a test waits for. What is promised within a time, a test measures itself.
    expect: { poll: { timeout: 30_000, interval: 100 } },
    // Vite sets BASE_URL to "/"; our setting of this name has another meaning. Tests fetch nothing that changes from day to day.
    env: { BASE_URL: "", LOG_LEVEL: "error", RATES_URL: "off", PRICES_URL: "off", PROVIDER_URLS: "off" },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          isolate: false,
          include: ["lib", "server", "scripts", "components", "app"].map(
            (folder) => `${folder}/**/*.test.ts`,
          ),
        },
      },
      {
        extends: true,
        // As Next's own compiler resolves it under app/.
        resolve: { alias: { "next/dynamic": "next/dist/shared/lib/app-dynamic" } },
        test: {
          name: "components",
          isolate: false,
          include: ["tests/components/**/*.test.tsx"],
          // A document without layout, in a tenth of the time of a browser. Nothing listens at its address.
          environment: "happy-dom",
          environmentOptions: { happyDOM: { url: "http://127.0.0.1:9/" } },
        },
      },
      onDatabase("alone", true, ["auth-alone"]),
      // One project, so that a worker goes on with the modules and the services that it has.
      onDatabase("service", false, ["api", "auth", "faults", "mcp", "oauth"]),
      // These call the code in their own process, and take its pools and its SDKs as they are when they are loaded.
      onDatabase("db", false, ["db"]),
      onDatabase("client", false, ["client"]),
    ],
  },
});
