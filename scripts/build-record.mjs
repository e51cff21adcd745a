// Records the sources of the last build, to detect whether one has changed since. Uses Node's own modules only, because it
// runs before packages are installed.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./root.mjs";

/** The record of the last build of the pages: path of a source → hash. */
const pagesRecord = "dist/build.json";

/** The record of a bundle in `dist/`: the hash of the bundle, and of each of its sources. */
const recordOf = (name) => `dist/${name}.inputs.json`;

/** Whether pages and bundles were built from the present sources. */
export function isBuilt() {
  return isPagesBuilt() && bundledAtBuild.every((name) => isBundleFresh(name));
}

/** The bundles of the service and of the local agent tools. Commands are bundled when they are run. */
const bundledAtBuild = ["server", "decoder", "parquet", "mcp"];

/** Whether the pages were built from the present sources. */
export function isPagesBuilt() {
  return findStalePages() === undefined;
}

/** Why the pages must be built again, as a sentence without a full stop; undefined if they need not be. */
export function findStalePages() {
  const outputs = [".next/BUILD_ID", "public/docs/index.html"];
  const built = readJson(pagesRecord);
  if (!built?.files || !outputs.every((file) => existsSync(join(root, file))))
    return "the pages are not built";
  const files = hashPageSources();
  const changed = [...Object.keys(files), ...Object.keys(built.files)].find(
    (path) => files[path] !== built.files[path],
  );
  return changed && `${changed} has changed since the pages were built`;
}

/** Deletes the record of the pages, so that a failed build does not count as up to date. */
export function forgetPages() {
  rmSync(join(root, pagesRecord), { force: true });
}

/** Records the sources of the pages. @param files the result of `hashPageSources` before the build */
export function recordPages(files) {
  writeWhole(join(root, pagesRecord), JSON.stringify({ files }));
}

/**
 * Whether a bundle was built from the present sources. The record contains the bundle's own hash too: of two processes that
 * bundle at the same time, one may have written the bundle and the other the record.
 * @param file the bundle
 */
export function isBundleFresh(name, file = `dist/${name}.mjs`) {
  const record = readJson(recordOf(name));
  if (!record || hashFile(file) !== record.output) return false;
  return Object.entries(record.inputs).every(([path, hash]) => hashFile(path) === hash);
}

/** Records the sources of a bundle. @param inputs paths relative to the root. @param output the bundle's contents */
export function recordBundle(name, inputs, output) {
  const hashes = Object.fromEntries(inputs.map((path) => [path, hashFile(path)]));
  writeWhole(join(root, recordOf(name)), JSON.stringify({ output: hash(output), inputs: hashes }));
}

/** Writes a file atomically: a reader finds the old file or the new one, never a part. */
export function writeWhole(file, contents, mode = 0o644) {
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}.draft`;
  writeFileSync(draft, contents, { mode });
  renameSync(draft, file);
}

/** Files and folders that are not sources of the pages. */
const notPages = new Set([
  "node_modules",
  "dist",
  "coverage",
  "bench",
  "tests",
  "docs",
  "lint",
  "public",
  "server",
  "supabase",
  "test-results",
  "Dockerfile",
  "biome.json",
  "compose.yaml",
  "knip.json",
  "lefthook.yml",
  "playwright.config.ts",
  "vercel.json",
  "vitest.config.ts",
]);

/** The scripts on which the result of a build depends; the others only start a build. */
const buildScripts = ["scripts/build.mjs", "scripts/generate-routes.mjs"];

/** Path of each source of the pages → hash. Settings are no sources, because they are read when the service runs (`lib/env.ts`). */
export function hashPageSources() {
  const files = {};
  const visit = (folder) => {
    const entries = readdirSync(join(root, folder), { withFileTypes: true });
    for (const entry of entries) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.name.startsWith(".") || /\.(test\.tsx?|md|tsbuildinfo)$|^next-env\.d\.ts$/.test(entry.name))
        continue;
      if (notPages.has(path) || (folder === "" && /-(report|results)$/.test(entry.name))) continue;
      if (folder === "scripts" && !buildScripts.includes(path)) continue;
      if (entry.isDirectory()) visit(path);
      else if (entry.isFile()) files[path] = hashFile(path);
    }
  };
  visit("");
  return files;
}

function hashFile(path) {
  try {
    return hash(readFileSync(join(root, path)));
  } catch {
    return undefined;
  }
}

function hash(contents) {
  return createHash("sha256").update(contents).digest("base64url").slice(0, 22);
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(join(root, path), "utf8"));
  } catch {
    return undefined;
  }
}
