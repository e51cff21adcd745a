#!/usr/bin/env node
// `outlay-mcp`, the local agent tools, from a checkout; installs packages and bundles first if needed. Standard output is
// for the protocol only, so messages go to standard error.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isBundleFresh } from "./build-record.mjs";
import { ensureBundle } from "./bundles.mjs";
import { ensureInstalled, requireNode } from "./prepare.mjs";
import { root } from "./root.mjs";

requireNode();
try {
  if (!isBundleFresh("mcp")) await makeBundle();
  await import(pathToFileURL(join(root, "dist/mcp.mjs")).href);
} catch (error) {
  process.stderr.write(`outlay-mcp: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}

async function makeBundle() {
  try {
    // If npm installed this package as a dependency, esbuild is installed beside it and there is no lockfile.
    await import("esbuild");
  } catch {
    await ensureInstalled((note) => process.stderr.write(`outlay-mcp: ${note}\n`));
  }
  await ensureBundle("mcp");
}
