// What the last build was made from, so that it can be told whether a source has changed since. Node's own modules only:
// nothing may be installed yet.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./root.mjs";

/** The sources of the pages that were built last: the hash of each, by its path. */
const pagesRecord = "dist/build.json";

/** The record of a bundle in `dist/`: the hash of the file itself, and of each file it was made from. */
const recordOf = (name) => `dist/${name}.inputs.json`;

/** Whether pages and bundles are of the sources as they are. */
export function isBuilt() {
  return isPagesBuilt() && bundledAtBuild.every(isBundleFresh);
}

/** What the service and the local agent tools run; commands are bundled where they are used. */
const bundledAtBuild = ["server", "mcp"];

/** Whether the pages are of the sources as they are. */
export function isPagesBuilt() {
  return findStalePages() === undefined;
}

/** Why the pages have to be built again: a sentence without its full stop; undefined where they need not be. */
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

/** Removes the record of the pages: a build that fails half way must not pass for the one before it. */
export function forgetPages() {
  rmSync(join(root, pagesRecord), { force: true });
}

/** Records what the pages were built from. @param files as `hashPageSources` found them before the build */
export function recordPages(files) {
  writeWhole(join(root, pagesRecord), JSON.stringify({ files }));
}

/**
 * Whether a bundle is of the sources as they are. The record names the bundle's own hash as well: of two processes that
 * bundle at the same time, one may have written the bundle and the other the record.
 */
export function isBundleFresh(name) {
  const record = readJson(recordOf(name));
  if (!record || hashFile(`dist/${name}.mjs`) !== record.output) return false;
  return Object.entries(record.inputs).every(([path, hash]) => hashFile(path) === hash);
}

/** Records what a bundle was made from. @param inputs paths from the root @param output the bundle's contents */
export function recordBundle(name, inputs, output) {
  const hashes = Object.fromEntries(inputs.map((path) => [path, hashFile(path)]));
  writeWhole(join(root, recordOf(name)), JSON.stringify({ output: hash(output), inputs: hashes }));
}

/** Writes a file in one step: whoever reads it meanwhile finds the one before or the new one, never a part. */
export function writeWhole(file, contents, mode = 0o644) {
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}.draft`;
  writeFileSync(draft, contents, { mode });
  renameSync(draft, file);
}

/** What no page is made from. */
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

/** The scripts that decide what a build is; the others only start one. */
const buildScripts = ["scripts/build.mjs", "scripts/generate-routes.mjs"];

/** The hash of every source of the pages by its path, and of the public settings that Next writes into them. */
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
  for (const [name, value] of Object.entries(process.env)) {
    if (name.startsWith("NEXT_PUBLIC_")) files[`the setting ${name}`] = hash(value);
  }
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
