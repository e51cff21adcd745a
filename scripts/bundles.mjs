// Makes the bundles in `dist/` with esbuild: the self-hosted server and its helpers, the local agent tools and the commands.
import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { isBundleFresh, recordBundle, writeWhole } from "./build-record.mjs";
import { writeRoutes } from "./generate-routes.mjs";
import { root } from "./root.mjs";

/** esbuild's options for a bundle of an entry, by default of the server. Packages are not included: they are installed. */
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

/** Options of a bundle that includes packages. */
const withPackages = {
  packages: "bundle",
  // Inside node_modules esbuild does not read tsconfig.json, which has the same setting.
  alias: { "@": root.replace(/[\\/]$/, "") },
};

/**
 * Leaves the lines of packages out of the source map, which then only has the names of their files. Node parses the whole map at the first
 * stack trace and answers no requests meanwhile; with all lines, that takes a quarter of a second.
 */
const linesOfOwnSources = {
  name: "lines-of-own-sources",
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]node_modules[\\/].*\.[cm]?js$/ }, async ({ path }) => {
      const map = JSON.stringify({ version: 3, sources: [basename(path)], mappings: "AAAA" });
      const encoded = Buffer.from(map).toString("base64");
      const text = await readFile(path, "utf8");
      return {
        contents: `${text}\n//# sourceMappingURL=data:application/json;base64,${encoded}`,
        loader: "js",
      };
    }),
};

/** Has large JSON files parsed as JSON, which takes a fraction of the time of JavaScript. */
const parsedData = {
  name: "parsed-data",
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]lib[\\/]ledger[\\/]pricing[\\/].*\.json$/ }, async ({ path }) => {
      const text = JSON.stringify(JSON.parse(await readFile(path, "utf8")));
      return { contents: `export default JSON.parse(${JSON.stringify(text)});`, loader: "js" };
    }),
};

/**
 * The server with its packages in one file without white space: it starts in half the processor time of one that reads
 * them from node_modules. `pg` is not included: the pages use the server's connections and must know the same error class.
 */
export const startedBundle = {
  ...serverBundle("dist/server.mjs"),
  ...withPackages,
  external: ["next", "pg"],
  // Packages in CommonJS call `require`, which a module does not have.
  banner: {
    js: 'import { createRequire as createRequireHere } from "node:module"; const require = createRequireHere(import.meta.url);',
  },
  minifyWhitespace: true,
  minifySyntax: true,
  // A stack trace needs the map's positions, not the sources themselves.
  sourcesContent: false,
  plugins: [linesOfOwnSources, parsedData],
};

/** What the server starts: the thread `decoder` decodes large bodies, the process `parquet` reads a Parquet file. */
const helperBundle = (name) => ({
  ...startedBundle,
  ...{ entryPoints: [`server/${name}.ts`], outfile: `dist/${name}.mjs` },
});
const helpers = ["decoder", "parquet"];

/** The local agent tools as a single file that needs only Node. */
const toolsBundle = {
  ...serverBundle("dist/mcp.mjs", "server/mcp.ts"),
  ...withPackages,
  sourcemap: false,
  minifyWhitespace: true,
  minifySyntax: true,
  banner: { js: "#!/usr/bin/env node" },
};

/** The commands for `scripts/run.mjs`: the names of the files in `server/commands/`. */
function commands() {
  return readdirSync(join(root, "server/commands"))
    .filter((file) => /^[a-z-]+\.ts$/.test(file))
    .map((file) => basename(file, ".ts"));
}

function optionsOf(name) {
  if (name === "server") return startedBundle;
  if (name === "mcp") return toolsBundle;
  if (helpers.includes(name)) return helperBundle(name);
  if (!commands().includes(name))
    throw new Error(`There is no command ${name}; there are ${commands().join(", ")}.`);
  return serverBundle(`dist/${name}.mjs`, `server/commands/${name}.ts`);
}

/**
 * Makes a bundle if one of its sources has changed. Writes it atomically, because another process may be starting it.
 * @param name server, a helper, mcp, or a command. @throws Error where there is none of that name, or bundling fails
 */
export async function ensureBundle(name) {
  const options = optionsOf(name);
  if (isBundleFresh(name)) return;
  const esbuild = await import("esbuild");
  const { outputFiles, metafile } = await esbuild.build({ ...options, write: false, metafile: true });
  // The source map must exist before the bundle that names it.
  for (const { path, contents } of outputFiles.reverse()) {
    writeWhole(path, contents, name === "mcp" ? 0o755 : 0o644);
    if (path.endsWith(".mjs")) recordBundle(name, sourcesOf(metafile), contents);
  }
}

/** The files that a bundle is made from. The lockfile stands for all packages. */
function sourcesOf({ inputs }) {
  const own = Object.keys(inputs).filter((path) => !path.startsWith("node_modules/"));
  return [...own, "package-lock.json", "scripts/bundles.mjs"];
}

/** Makes every bundle whose sources have changed, and the table of routes. Takes about a second. */
export async function ensureBundles() {
  writeRoutes();
  await Promise.all(["server", ...helpers, "mcp", ...commands()].map(ensureBundle));
}
