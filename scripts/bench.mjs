// `npm run bench`: measures what a request costs, compared with a bare endpoint and with Next, and what history adds to it.
// `-- --part ingest|bulk|latency|dashboard|isolation|hostile|observability|workers|spans|budgets|queue|reads|late --rounds N --requests N --json FILE`; for reads and late, which are not part of all:
// `--postings N --data FOLDER`, where the folder is kept and used again.
import { join } from "node:path";
import { step } from "../server/progress.mjs";
import { serverBundle, startedBundle } from "./bundles.mjs";
import { ensureBuilt, ensureInstalled, requireNode } from "./prepare.mjs";
import { root } from "./root.mjs";

requireNode();
process.chdir(root);
try {
  await step("install", ensureInstalled);
  await step("build", ensureBuilt);
  const esbuild = await import("esbuild");
  for (const name of ["main", "bare", "floor", "attack"]) {
    await esbuild.build({ ...serverBundle(`dist/bench/${name}.mjs`), entryPoints: [`bench/${name}.ts`] });
  }
  await bundleWithoutMetrics(esbuild);
  await import(join(root, "dist/bench/main.mjs"));
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}

/**
 * Bundles the server with `bench/no-metrics.ts` in place of its metrics, to measure what they cost: the service has no switch
 * that would be there only for this.
 */
async function bundleWithoutMetrics(esbuild) {
  await esbuild.build({
    ...startedBundle,
    // Beside the server's bundle, because both find the migrations by their own place.
    outfile: "dist/server-without-metrics.mjs",
    plugins: [
      {
        name: "no-metrics",
        setup: ({ onResolve }) =>
          onResolve({ filter: /(^@\/lib|^\.)\/metrics$/ }, ({ path, resolveDir }) => {
            const isOurs = path === "@/lib/metrics" || resolveDir === join(root, "lib");
            return isOurs ? { path: join(root, "bench/no-metrics.ts") } : undefined;
          }),
      },
    ],
  });
}
