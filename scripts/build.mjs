// `npm run build`: the pages with Next, and the self-hosted server with esbuild.
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { buildStamp, hashSources, root, run, stopRunning } from "./prepare.mjs";

/** esbuild's options for the server's bundle. Packages stay outside: they are installed beside it. */
export function serverBundle(outfile) {
  return {
    absWorkingDir: root,
    entryPoints: ["server/main.ts"],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    sourcemap: true,
    logLevel: "warning",
  };
}

/** Writes the files that are made from others. */
export async function generate() {
  const routes = join(root, "scripts/generate-routes.mjs");
  if (existsSync(routes)) await run([process.execPath, routes]);
}

async function build() {
  // A build that fails half way must not pass for the one before it.
  rmSync(buildStamp, { force: true });
  await generate();
  // Before the build: a source that changes meanwhile makes the next start build again.
  const sources = hashSources();
  const next = join(root, "node_modules/next/dist/bin/next");
  await run([process.execPath, next, "build"], { inherit: true, env: { NEXT_TELEMETRY_DISABLED: "1" } });
  const esbuild = await import("esbuild");
  await esbuild.build(serverBundle("dist/server.mjs"));
  mkdirSync(dirname(buildStamp), { recursive: true });
  writeFileSync(buildStamp, `${JSON.stringify({ sources })}\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  // Next would go on building without us.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, stopRunning);
  try {
    await build();
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
