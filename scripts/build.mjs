// `npm run build`: builds the pages with Next, and the self-hosted server and the commands with esbuild. `-- --bundles`
// builds only the bundles, if their sources have changed.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { forgetPages, hashPageSources, recordPages } from "./build-record.mjs";
import { ensureBundles, serverBundle } from "./bundles.mjs";
import { writeRoutes } from "./generate-routes.mjs";
import { run, stopRunning } from "./prepare.mjs";
import { root } from "./root.mjs";

/** Writes the API reference into `public/docs`: static files, which Next and any platform serve unchanged. */
export async function buildDocs() {
  const esbuild = await import("esbuild");
  const program = join(root, "dist/docs.mjs");
  await esbuild.build({ ...serverBundle(program, "app/docs/build.ts"), jsx: "automatic" });
  await run([process.execPath, program, root, join(root, "public/docs")], {
    env: { NODE_ENV: "production" },
  });
}

async function buildPages() {
  forgetPages();
  writeRoutes();
  // Hashed before the build, so that the next start builds again if a source changes meanwhile.
  const files = hashPageSources();
  // Before Next's build, which lists the files in public/.
  await buildDocs();
  const next = join(root, "node_modules/next/dist/bin/next");
  await run([process.execPath, next, "build"], { inherit: true, env: { NEXT_TELEMETRY_DISABLED: "1" } });
  recordPages(files);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  // Ends Next too, which would otherwise continue to build.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, stopRunning);
  try {
    if (!process.argv.includes("--bundles")) await buildPages();
    await ensureBundles();
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
