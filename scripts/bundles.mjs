// The bundles in `dist/`, made with esbuild: the self-hosted server, the local agent tools and the commands beside them.
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { isBundleFresh, recordBundle, writeWhole } from "./build-record.mjs";
import { writeRoutes } from "./generate-routes.mjs";
import { root } from "./root.mjs";

/** esbuild's options for the server's bundle, or that of another entry. Packages stay outside: they are installed beside it. */
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

/** The local agent tools as one file that needs nothing beside it but Node. */
const toolsBundle = {
  ...serverBundle("dist/mcp.mjs", "server/mcp.ts"),
  packages: "bundle",
  // Among npm's packages esbuild leaves tsconfig.json unread, which says the same.
  alias: { "@": root.replace(/[\\/]$/, "") },
  sourcemap: false,
  banner: { js: "#!/usr/bin/env node" },
};

/** The commands that `scripts/run.mjs` runs: the files of `server/commands/`, by their names. */
function commands() {
  return readdirSync(join(root, "server/commands"))
    .filter((file) => /^[a-z-]+\.ts$/.test(file))
    .map((file) => basename(file, ".ts"));
}

function optionsOf(name) {
  if (name === "server") return serverBundle("dist/server.mjs");
  if (name === "mcp") return toolsBundle;
  if (!commands().includes(name))
    throw new Error(`There is no command ${name}; there are ${commands().join(", ")}.`);
  return serverBundle(`dist/${name}.mjs`, `server/commands/${name}.ts`);
}

/**
 * Makes a bundle where a source of it has changed, in one step: another process may be starting it at this moment.
 * @param name server, mcp, or a command @throws Error where there is none of that name, or it cannot be made
 */
export async function ensureBundle(name) {
  const options = optionsOf(name);
  if (isBundleFresh(name)) return;
  const esbuild = await import("esbuild");
  const { outputFiles, metafile } = await esbuild.build({ ...options, write: false, metafile: true });
  // The map comes before the bundle that names it.
  for (const { path, contents } of outputFiles.reverse()) {
    writeWhole(path, contents, name === "mcp" ? 0o755 : 0o644);
    if (path.endsWith(".mjs")) recordBundle(name, Object.keys(metafile.inputs), contents);
  }
}

/** Makes every bundle that a source has changed under, and the table of routes. It takes about a second. */
export async function ensureBundles() {
  writeRoutes();
  await Promise.all(["server", "mcp", ...commands()].map(ensureBundle));
}
