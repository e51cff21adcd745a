import { execFile } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";

const execute = promisify(execFile);

/** Installs the packages of a folder of tests from its lockfile, once, also if several test files ask at the same time. */
export async function installOwnPackages(folder: string): Promise<void> {
  const wanted = readFileSync(join(folder, "package-lock.json"), "utf8");
  const stamp = join(folder, "node_modules/.installed-lock.json");
  const isInstalled = () => existsSync(stamp) && readFileSync(stamp, "utf8") === wanted;
  const lock = join(folder, ".installing");
  while (!isInstalled()) {
    if (!takeLock(lock)) {
      await wait(200);
      continue;
    }
    try {
      if (isInstalled()) return;
      const npm = process.platform === "win32" ? "npm.cmd" : "npm";
      await execute(npm, ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder });
      writeFileSync(stamp, wanted);
    } finally {
      rmSync(lock, { force: true });
    }
  }
}

/** Writes this process's id into a new file. False if another process that still runs has written its own. */
function takeLock(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: "wx" });
    return true;
  } catch {
    if (existsSync(file) && !isRunning(Number(readFileSync(file, "utf8")))) rmSync(file, { force: true });
    return false;
  }
}

function isRunning(pid: number): boolean {
  // The file is empty for a moment, before its writer has written into it.
  if (pid === 0) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
