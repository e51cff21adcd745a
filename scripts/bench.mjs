// `npm run bench`: measures the cost of a request, compared with a bare endpoint and with Next, and how it grows with the ledger.
// `-- --part ingest|bulk|latency|dashboard|isolation|hostile|observability|workers|spans|budgets|queue|reads|late --rounds N --requests N
// --json FILE`; for `reads` and `late`, which run only if they are named, also `--postings N --data FOLDER`: the folder is kept and reused.
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
 * Bundles the server with `bench/no-metrics.ts` instead of its metrics, to measure their cost. The service has no setting to turn them
 * off, because nothing else would need it.
 */
async function bundleWithoutMetrics(esbuild) {
  await esbuild.build({
    ...startedBundle,
    // In the same folder as the server's bundle, because both find the migrations relative to their own path.
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
