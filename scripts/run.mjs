// `node scripts/run.mjs <command> [arguments]`: runs a command of `server/commands/`, installed and bundled first where
// that is needed. Everything that `npm run <command>` offers beside the service goes this way.
import { join, resolve } from "node:path";
import { holderOf } from "../lib/db/embedded/claim.mjs";
import { ensureBundle } from "./bundles.mjs";
import { ensureInstalled, isInstalled, loadEnvFiles, requireNode, stopRunning } from "./prepare.mjs";
import { root } from "./root.mjs";

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
  // The whole build is the service's business: a command needs its own bundle alone, which takes a moment.
  await ensureBundle(name);
  // From here on the command itself decides what a signal means.
  for (const signal of signals) process.off(signal, stopRunning);
  const { main } = await import(join(root, `dist/${name}.mjs`));
  process.exitCode = await main(args, callerDir);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = couldNotRun;
}
