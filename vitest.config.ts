import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Starts the file that waits for real minutes to pass before all others, which run meanwhile. */
class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const waits = ({ moduleId }: TestSpecification) => moduleId.endsWith("/tests/api/rate-limit.test.ts");
    const sorted = await super.sort(files);
    return [...sorted.filter(waits), ...sorted.filter((file) => !waits(file))];
  }
}

/**
 * A project whose tests work on a real Postgres: one server a run, databases from `tests/helpers/database.ts`.
 * @param isolate whether each file has a process of its own: where the tests run the service's modules in their own
 *   process. Where they talk to one that they start, loading the same modules again for every file proves nothing.
 */
const onDatabase = (name: string, isolate: boolean) => ({
  extends: true as const,
  test: {
    name,
    isolate,
    include: [`tests/${name}/**/*.test.ts`],
    globalSetup: ["tests/helpers/global-setup.ts"],
  },
});

export default defineConfig({
  resolve: { alias: { "@": fileURLToPath(new URL(".", import.meta.url)) } },
  test: {
    // One more than there are cores: some tests spend a minute waiting for a window to pass.
    maxWorkers: 3,
    sequence: { sequencer: WaitingFirst },
    // A machine that has much else to do is slow, not wrong.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Vite puts a BASE_URL of its own ("/") into the environment; ours means something else.
    env: { BASE_URL: "", LOG_LEVEL: "error" },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          isolate: false,
          include: ["lib/**/*.test.ts", "server/**/*.test.ts", "components/**/*.test.ts", "app/**/*.test.ts"],
        },
      },
      onDatabase("db", true),
      onDatabase("auth", true),
      onDatabase("api", false),
      onDatabase("faults", false),
      onDatabase("oauth", false),
      onDatabase("mcp", false),
    ],
  },
});
