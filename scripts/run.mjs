// `node scripts/run.mjs <command> [arguments]`: runs a command of `server/commands/`; installs packages and bundles first if
// needed. `npm run import`, `reconcile` and the other commands use it.
import { join, resolve } from "node:path";
import { holderOf } from "../lib/db/embedded/claim.mjs";
import { ensureBundle } from "./bundles.mjs";
import { ensureInstalled, isInstalled, loadEnvFiles, requireNode, stopRunning } from "./prepare.mjs";
import { root } from "./root.mjs";

/** The exit status if a command could not run. */
const couldNotRun = 2;

const [name, ...args] = process.argv.slice(2);
const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
for (const signal of signals) process.on(signal, stopRunning);

requireNode();
// File names in the arguments are relative to the caller's folder, not to the repository.
const callerDir = process.env.INIT_CWD ?? process.cwd();
process.chdir(root);
loadEnvFiles();
process.env.NODE_ENV ??= "production";
process.env.LOG_LEVEL ??= "error";
process.setSourceMapsEnabled(true);
try {
  if (!isInstalled()) {
    const holder = holderOf(resolve(root, process.env.OUTLAY_DATA_DIR || ".outlay"));
    // An install would replace the packages that a running service uses.
    if (holder)
      throw new Error(`The packages have changed under the service (process ${holder.pid}): stop it first.`);
    await ensureInstalled();
  }
  // Builds only the command's own bundle, which takes a moment.
  await ensureBundle(name);
  // From here on the command handles signals itself.
  for (const signal of signals) process.off(signal, stopRunning);
  const { main } = await import(join(root, `dist/${name}.mjs`));
  process.exitCode = await main(args, callerDir);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = couldNotRun;
}
