import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Starts the file that waits for whole minutes first, so that the others run meanwhile. */
class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const waits = ({ moduleId }: TestSpecification) =>
      moduleId.endsWith("/tests/api/keys/rate-limit.test.ts");
    const sorted = await super.sort(files);
    return [...sorted.filter(waits), ...sorted.filter((file) => !waits(file))];
  }
}

/**
 * A project whose tests use a real Postgres: one server per run, with databases from `tests/helpers/database.ts`.
 * @param isolate whether each file runs in a process of its own: only where files set the settings of their process, or leave
 *   it in another state. Loading the modules again for every file takes longer than most files, and tests nothing more.
 */
const onDatabase = (name: string, isolate: boolean, ...setup: string[]) => ({
  extends: true as const,
  test: {
    name,
    isolate,
    include: [`tests/${name}/**/*.test.ts`],
    setupFiles: ["tests/helpers/await-new-day.ts"],
    globalSetup: ["tests/helpers/global-setup.ts", ...setup],
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
    sequence: { sequencer: WaitingFirst },
    // `--changed` runs what imports a changed file. A changed package.json would mean every test, as `npm test` runs them.
    forceRerunTriggers: [],
    setupFiles: ["tests/helpers/name-causes.ts"],
    // Generous, because a busy machine is slow and its tests must not fail for that.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Vite sets BASE_URL to "/"; our setting of this name has another meaning. Tests fetch nothing that changes from day to day.
    env: { BASE_URL: "", LOG_LEVEL: "error", RATES_URL: "off", PRICES_URL: "off" },
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
      onDatabase("db", false),
      onDatabase("auth", false),
      onDatabase("auth-alone", true),
      onDatabase("api", false),
      onDatabase("faults", false),
      onDatabase("oauth", false),
      onDatabase("mcp", false),
      onDatabase("client", false, "tests/client/build-package.ts"),
    ],
  },
});
