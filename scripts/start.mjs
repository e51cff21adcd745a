// `npm start`: from a fresh clone to a running service, with nothing but Node and npm. Skips steps that were done before.
// `npm run dev` does the same with --dev: without a build, and with a restart at every change.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { AlreadyRunningError, claimDataFolder, holderOf, lifeOf } from "../lib/db/embedded/claim.mjs";
import { ignoreClosedOutput, step } from "../server/progress.mjs";
import { ensureBuilt, ensureInstalled, loadEnvFiles, requireNode, stopRunning } from "./prepare.mjs";
import { root } from "./root.mjs";

const startedMs = performance.now();
const dev = process.argv.includes("--dev");

ignoreClosedOutput();
requireNode();
process.chdir(root);
loadEnvFiles();
process.env.NODE_ENV = dev ? "development" : "production";
process.setSourceMapsEnabled(true);

stopWithParent();

let claim;
let interrupted = false;
const interrupt = () => {
  interrupted = true;
  stopRunning();
};
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, interrupt);

try {
  claim = await claimForSetUp();
  await step("install", ensureInstalled);
  if (dev) {
    claim?.release();
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.off(signal, interrupt);
    await (await import("./dev.mjs")).serveAndWatch();
  } else {
    await step("build", ensureBuilt);
    // From here on the service handles signals itself, and answers pending requests first.
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.off(signal, interrupt);
    const { main } = await import(join(root, "dist/server.mjs"));
    await main({ dev: false, startedMs, ...(claim && { claim }) });
  }
} catch (error) {
  claim?.release();
  if (!interrupted) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exit(1);
  }
  process.exit(0);
}

/**
 * Claims the data folder before installing or building, because neither may happen while a service runs. With an external database, the
 * service needs no data folder, so that several may run.
 */
async function claimForSetUp() {
  if (process.env.POSTGRES_URL || process.env.DATABASE_URL) return undefined;
  const dataDir = process.env.OUTLAY_DATA_DIR || ".outlay";
  const holder = holderOf(dataDir);
  if (holder) throw new AlreadyRunningError(resolve(root, dataDir), holder);
  return claimDataFolder(dataDir);
}

/**
 * Stops the service when npm has ended. npm passes a signal only to the shell in which it runs this script, and the shell ends without
 * passing it on. If npm is killed, both continue to run.
 */
function stopWithParent() {
  if (!process.env.npm_lifecycle_event) return;
  const shell = process.ppid;
  const npm = npmAbove(shell);
  const timer = setInterval(() => {
    if (process.ppid === shell && (npm === undefined || lifeOf(npm.pid) === npm.life)) return;
    clearInterval(timer);
    process.kill(process.pid, "SIGTERM");
  }, 200);
  timer.unref();
}

/** The npm process that started a shell; undefined if it cannot be found. Then only the shell is watched. */
function npmAbove(shell) {
  try {
    const stat = readFileSync(`/proc/${shell}/stat`, "utf8");
    const pid = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    if (!readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("npm")) return undefined;
    return { pid, life: lifeOf(pid) };
  } catch {
    return undefined;
  }
}
