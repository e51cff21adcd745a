import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** A project whose tests work on a real Postgres: one server a run, databases from `tests/helpers/database.ts`. */
const onDatabase = (name: string) => ({
  extends: true as const,
  test: {
    name,
    include: [`tests/${name}/**/*.test.ts`],
    globalSetup: ["tests/helpers/global-setup.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});

export default defineConfig({
  resolve: { alias: { "@": fileURLToPath(new URL(".", import.meta.url)) } },
  test: {
    // One more than there are cores: some tests spend a minute waiting for a window to pass.
    maxWorkers: 3,
    // Vite puts a BASE_URL of its own ("/") into the environment; ours means something else.
    env: { BASE_URL: "", LOG_LEVEL: "error" },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["lib/**/*.test.ts", "server/**/*.test.ts", "components/**/*.test.ts"],
        },
      },
      onDatabase("db"),
      onDatabase("api"),
      onDatabase("faults"),
      onDatabase("auth"),
      onDatabase("oauth"),
      onDatabase("mcp"),
    ],
  },
});
