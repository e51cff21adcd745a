// Ensures that a data folder is used by one service only. Plain JavaScript with Node's own modules, because `npm start` uses it before
// anything is installed or built.
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * @typedef {object} Holder The process that has claimed a data folder.
 * @property {number} pid
 * @property {"claiming" | "held"} state
 * @property {string | undefined} address The address at which it serves, once it does.
 */

/**
 * @typedef {object} Claim
 * @property {string} dataDir Absolute.
 * @property {(address: string) => void} announce Publishes the address of the service, for the error of a second start.
 * @property {() => void} release Releases the folder. May be called twice.
 */

/** Another running process uses the data folder. The message is for users. */
export class AlreadyRunningError extends Error {
  /**
   * @param {string} dataDir
   * @param {Holder} holder
   */
  constructor(dataDir, holder) {
    const where = holder.address ? `at ${holder.address}` : "and still starting";
    super(
      `Outlay is already running on the data folder ${dataDir}: process ${holder.pid}, ${where}. ` +
        "Stop that one first, or give this one a folder of its own with OUTLAY_DATA_DIR.",
    );
    this.name = "AlreadyRunningError";
    this.holder = holder;
  }
}

/**
 * Identifies the process that has a process id now, to distinguish it from earlier and later processes with the same id.
 * @param {number} pid
 * @returns {string | undefined} Opaque text that can be part of a file name; undefined if no process with the id runs. A process that
 *   has ended but was not reaped yet does not count as running.
 */
export function lifeOf(pid) {
  if (process.platform === "linux") {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      // The command's name is in parentheses and may contain spaces and parentheses itself.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (fields[0] === "Z" || fields[0] === "X") return undefined;
      const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").slice(0, 8);
      return `${boot}_${fields[19]}`;
    } catch {
      return undefined;
    }
  }
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EPERM") return undefined;
  }
  if (process.platform === "win32") return "alive";
  try {
    const started = execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" });
    return String(Date.parse(started) / 1000);
  } catch {
    return undefined;
  }
}

/**
 * Claims a data folder for this process, and creates it if it is missing. The claim ends with the process, however that ends.
 *
 * Each claimant first writes a file that is named after its process id and start time, and only then looks for the files of others. Of two
 * that start at the same time, at least one sees the other's file, and removes its own. The file of an ended process can be removed by
 * any process at any time, because no later process uses the same name.
 * @param {string} dataDir
 * @returns {Promise<Claim>}
 * @throws {AlreadyRunningError}
 */
export async function claimDataFolder(dataDir) {
  // As root, the folder must be passable for others, because Postgres then runs as another account.
  mkdirSync(claimsIn(resolve(dataDir)), { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  // The same path for a folder, whichever links lead to it.
  const folder = realpathSync(dataDir);
  const claims = claimsIn(folder);
  const name = `${process.pid}-${lifeOf(process.pid)}-${randomBytes(4).toString("hex")}.json`;
  const file = join(claims, name);
  /** @param {Omit<Holder, "pid">} content */
  const write = (content) => {
    writeFileSync(`${file}.new`, JSON.stringify({ pid: process.pid, ...content }), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  };
  const giveUpAt = Date.now() + 3_000;
  for (;;) {
    write({ state: "claiming", address: undefined });
    const others = holdersIn(claims, name);
    const [first] = others;
    if (!first) break;
    rmSync(file, { force: true });
    const held = others.find((holder) => holder.state === "held");
    if (held) throw new AlreadyRunningError(folder, held);
    if (Date.now() > giveUpAt) throw new AlreadyRunningError(folder, first);
    await sleep(20 + Math.random() * 150);
  }
  write({ state: "held", address: undefined });
  return {
    dataDir: folder,
    announce: (address) => write({ state: "held", address }),
    release: () => rmSync(file, { force: true }),
  };
}

/**
 * The running process that has claimed a data folder, if any. Removes the files of ended processes.
 * @param {string} dataDir
 * @returns {Holder | undefined}
 */
export function holderOf(dataDir) {
  return holdersIn(claimsIn(resolve(dataDir))).find((holder) => holder.state === "held");
}

/** @param {string} folder */
function claimsIn(folder) {
  return join(folder, "claims");
}

/**
 * @param {string} claims
 * @param {string} [own] The file name to leave out.
 * @returns {Holder[]}
 */
function holdersIn(claims, own) {
  /** @type {Holder[]} */
  const holders = [];
  for (const name of listed(claims)) {
    const match = /^(\d+)-([^-]+)-[0-9a-f]+\.json$/.exec(name);
    if (!match || name === own) continue;
    const pid = Number(match[1]);
    if (lifeOf(pid) === match[2]) holders.push({ pid, ...contentOf(join(claims, name)) });
    else for (const rest of [name, `${name}.new`]) rmSync(join(claims, rest), { force: true });
  }
  return holders;
}

/** @param {string} claims */
function listed(claims) {
  try {
    return readdirSync(claims);
  } catch {
    return [];
  }
}

/**
 * @param {string} file
 * @returns {Omit<Holder, "pid">}
 */
function contentOf(file) {
  try {
    const content = JSON.parse(readFileSync(file, "utf8"));
    return { state: content.state === "held" ? "held" : "claiming", address: content.address };
  } catch {
    // The file was removed since it was listed. The next round sees that.
    return { state: "claiming", address: undefined };
  }
}
