#!/usr/bin/env node
// `outlay-mcp` runs the local agent tools from a checkout, and installs and bundles them first if needed. Standard output
// carries protocol messages only, so every other message goes to standard error.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { bundleTools } from "./build.mjs";
import { ensureInstalled, isBuilt, requireNode, root } from "./prepare.mjs";

requireNode();
try {
  const bundle = join(root, "dist/mcp.mjs");
  if (!existsSync(bundle) || !isBuilt()) await makeBundle();
  await import(pathToFileURL(bundle).href);
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
  await bundleTools();
}
