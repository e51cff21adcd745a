// `node scripts/run.mjs <command> [arguments]`: runs a command of `server/commands/`, installed and bundled first
// where needed. Every `npm run <command>` that is not the service uses it.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { holderOf } from "../lib/db/embedded/claim.mjs";
import { bundleCommand } from "./build.mjs";
import {
  ensureInstalled,
  isBuilt,
  isInstalled,
  loadEnvFiles,
  requireNode,
  root,
  stopRunning,
} from "./prepare.mjs";

/** The exit status of a command that could not start; the command's own statuses differ. */
const couldNotRun = 2;

const [name, ...args] = process.argv.slice(2);
const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
for (const signal of signals) process.on(signal, stopRunning);

requireNode();
// File names on the command line are relative to the caller's folder, not the repository.
const callerDir = process.env.INIT_CWD ?? process.cwd();
process.chdir(root);
loadEnvFiles();
process.env.NODE_ENV ??= "production";
process.env.LOG_LEVEL ??= "error";
process.setSourceMapsEnabled(true);
try {
  if (!isInstalled()) {
    const holder = holderOf(resolve(root, process.env.OUTLAY_DATA_DIR || ".outlay"));
    // Not while the service runs: an install replaces the packages it uses.
    if (holder)
      throw new Error(`The packages have changed under the service (process ${holder.pid}): stop it first.`);
    await ensureInstalled();
  }
  // Only the command's own bundle is made, which takes a moment. The service makes the whole build.
  if (!isBuilt() || !existsSync(join(root, `dist/${name}.mjs`))) await bundleCommand(name);
  // From here on the command handles signals.
  for (const signal of signals) process.off(signal, stopRunning);
  const { main } = await import(join(root, `dist/${name}.mjs`));
  process.exitCode = await main(args, callerDir);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = couldNotRun;
}
