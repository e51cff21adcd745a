import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Starts first what waits most: the file that waits for whole minutes, then the faults, which wait for a Postgres or a service to
 * come back. The browser tests, which run beside it and end earlier, use the processor meanwhile. What is left when they have
 * ended needs the processor and waits for little.
 */
class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId, project }: TestSpecification) =>
      moduleId.endsWith("/tests/api/rate-limit.test.ts") ? 0 : project.name === "faults" ? 1 : 2;
    const sorted = await super.sort(files);
    return [0, 1, 2].flatMap((wanted) => sorted.filter((file) => place(file) === wanted));
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
    globalSetup: ["tests/helpers/global-setup.ts", ...setup],
  },
});

export default defineConfig({
  resolve: { alias: { "@": fileURLToPath(new URL(".", import.meta.url)) } },
  test: {
    // Twice the number of cores of a small machine, because tests wait more than half of their time.
    maxWorkers: 4,
    sequence: { sequencer: WaitingFirst },
    // Generous, because a busy machine is slow and its tests must not fail for that.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Vite sets BASE_URL to "/"; our setting of this name has another meaning.
    env: { BASE_URL: "", LOG_LEVEL: "error" },
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
