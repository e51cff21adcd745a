// `npm run build`: builds the pages with Next, and the self-hosted server and the commands with esbuild.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { buildStamp, hashSources, root, run, stopRunning } from "./prepare.mjs";

/**
 * esbuild's options for the server's bundle, or for another entry. Packages are not bundled: they are installed beside
 * it.
 */
export function serverBundle(outfile, entry = "server/main.ts") {
  return {
    absWorkingDir: root,
    entryPoints: [entry],
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

/** The commands that `scripts/run.mjs` can run: the files of `server/commands/` by name. */
function commands() {
  return readdirSync(join(root, "server/commands"))
    .filter((file) => /^[a-z-]+\.ts$/.test(file))
    .map((file) => basename(file, ".ts"));
}

/** Bundles one command. @throws Error for an unknown name */
export async function bundleCommand(name) {
  if (!commands().includes(name))
    throw new Error(`There is no command ${name}; there are ${commands().join(", ")}.`);
  const esbuild = await import("esbuild");
  await esbuild.build(serverBundle(`dist/${name}.mjs`, `server/commands/${name}.ts`));
}

/** Bundles the local agent tools into one file that needs only Node. @returns its path */
export async function bundleTools() {
  const esbuild = await import("esbuild");
  const file = join(root, "dist/mcp.mjs");
  const { outputFiles } = await esbuild.build({
    ...serverBundle(file, "server/mcp.ts"),
    packages: "bundle",
    // esbuild does not read tsconfig.json inside node_modules; this option says the same.
    alias: { "@": root.replace(/[\\/]$/, "") },
    sourcemap: false,
    banner: { js: "#!/usr/bin/env node" },
    write: false,
  });
  mkdirSync(dirname(file), { recursive: true });
  // Moved into place in one step: another assistant may be starting the file.
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, outputFiles[0].contents, { mode: 0o755 });
  renameSync(draft, file);
  return file;
}

/** Writes the generated files. */
export async function generate() {
  const routes = join(root, "scripts/generate-routes.mjs");
  if (existsSync(routes)) await run([process.execPath, routes]);
}

/** Writes the API reference into `public/docs`: static files, which Next and any platform serve as they are. */
export async function buildDocs() {
  const esbuild = await import("esbuild");
  const program = join(root, "dist/docs.mjs");
  await esbuild.build({ ...serverBundle(program, "app/docs/build.ts"), jsx: "automatic" });
  await run([process.execPath, program, root, join(root, "public/docs")], {
    env: { NODE_ENV: "production" },
  });
}

async function build() {
  // Removed first, so that a failed build does not pass for the previous one.
  rmSync(buildStamp, { force: true });
  await generate();
  // Computed before the build: when a source changes meanwhile, the next start builds again.
  const sources = hashSources();
  // Written before Next's build, which lists the files in public/.
  await buildDocs();
  const next = join(root, "node_modules/next/dist/bin/next");
  await run([process.execPath, next, "build"], { inherit: true, env: { NEXT_TELEMETRY_DISABLED: "1" } });
  const esbuild = await import("esbuild");
  await esbuild.build(serverBundle("dist/server.mjs"));
  for (const name of commands()) await bundleCommand(name);
  await bundleTools();
  mkdirSync(dirname(buildStamp), { recursive: true });
  writeFileSync(buildStamp, `${JSON.stringify({ sources })}\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  // Ends Next too, which would otherwise go on building.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, stopRunning);
  try {
    await build();
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
