// Shared by the commands: installs packages by the lockfile and builds the present sources. Uses Node's own modules only,
// because it runs before packages are installed.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isBuilt, isPagesBuilt } from "./build-record.mjs";
import { root } from "./root.mjs";

/** Ends the process with an explanation if Node is too old. */
export function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  process.stderr.write(`Outlay needs Node.js 20.19 or newer; this is ${process.version}.\n`);
  process.exit(1);
}

/** Loads settings from .env.local and .env; variables of the environment have precedence. */
export function loadEnvFiles() {
  for (const file of [".env.local", ".env"]) {
    if (existsSync(join(root, file))) process.loadEnvFile(join(root, file));
  }
}

/** Installs packages by the lockfile if node_modules differs from it. @returns what it did, as text */
export async function ensureInstalled(note = (_text) => {}) {
  if (isInstalled()) return "up to date";
  note("npm ci …");
  await runNpm(["ci", "--include=dev", "--include=optional", "--no-audit", "--no-fund"]);
  return "from the lockfile";
}

/** Runs the npm that started this process; if there is none (`node scripts/start.mjs`), the npm on the PATH. */
export function runNpm(args, options = {}) {
  const npm = process.env.npm_execpath;
  const program = npm?.endsWith(".js") ? [process.execPath, npm] : ["npm"];
  return run([...program, ...args], { shell: process.platform === "win32" && !npm, ...options });
}

/** Whether the installed packages are those of the lockfile. npm writes their list last, so that an interrupted install has no list. */
export function isInstalled() {
  const installed = packagesOf("node_modules/.package-lock.json");
  const locked = packagesOf("package-lock.json");
  if (!installed || !locked) return false;
  return Object.entries(locked).every(([path, wanted]) => {
    if (path === "") return true;
    const found = installed[path];
    if (found) return found.version === wanted.version && found.integrity === wanted.integrity;
    return wanted.optional === true && !isForThisPlatform(wanted);
  });
}

/** Whether a package must be installed. Only npm knows whether a C library fits, so that packages which name one may be missing. */
function isForThisPlatform({ os, cpu, libc }) {
  return Boolean(os?.includes(process.platform) && cpu?.includes(process.arch) && !libc);
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(join(root, file), "utf8")).packages;
  } catch {
    return undefined;
  }
}

/** Builds pages and bundles, or only the bundles, if their sources have changed. @returns what it did, as text */
export async function ensureBuilt(note = (_text) => {}) {
  if (isBuilt()) return "up to date";
  note("building …");
  const parts = isPagesBuilt() ? ["--bundles"] : [];
  await run([process.execPath, join(root, "scripts/build.mjs"), ...parts], {
    env: { NODE_ENV: "production" },
  });
  return "done";
}

/** The running child processes of `run`. */
const running = new Set();

/** Ends the programs that `run` started. Gives them two seconds, because npm, for example, may have to finish. */
export function stopRunning() {
  for (const child of running) {
    child.kill("SIGTERM");
    setTimeout(() => child.kill("SIGKILL"), 2_000).unref();
  }
}

/**
 * Runs a program in the root of the repository. Its output is returned, unless the program inherits the terminal or `write` receives it.
 * @param options.write receives each part of the output, which then is neither in the result nor in the error
 * @throws Error with the program's output if it fails
 */
export function run(
  [program, ...args],
  { env = {}, shell = false, inherit = false, timeout = 0, write } = {},
) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: root,
      env: { ...process.env, ...env },
      shell,
      timeout,
      stdio: inherit ? "inherit" : ["ignore", "pipe", "pipe"],
    });
    running.add(child);
    let said = "";
    const listen =
      write ??
      ((chunk) => {
        said += chunk;
      });
    child.stdout?.on("data", listen);
    child.stderr?.on("data", listen);
    child.once("error", reject);
    child.once("close", (status, signal) => {
      running.delete(child);
      if (status === 0) resolve(said);
      else
        reject(new Error(`${said}\n${[program, ...args].join(" ")} ended with ${status ?? signal}.`.trim()));
    });
  });
}
