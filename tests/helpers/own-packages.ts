import { execFile } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);

/** Installs the packages of a folder of tests from its lockfile, unless done already. */
export async function installOwnPackages(folder: string): Promise<void> {
  const wanted = readFileSync(join(folder, "package-lock.json"), "utf8");
  const stamp = join(folder, "node_modules/.installed-lock.json");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  await execute(npm, ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder });
  writeFileSync(stamp, wanted);
}
