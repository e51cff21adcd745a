import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

const ticksPerSecond = process.platform === "linux" ? Number(execFileSync("getconf", ["CLK_TCK"])) : 100;

/** The CPU time of a process, user and system, in ms. */
function cpuMs(pid: number): number {
  if (!existsSync("/proc/self/stat")) {
    return parseClock(execFileSync("ps", ["-o", "time=", "-p", String(pid)], { encoding: "utf8" }));
  }
  const { own } = readStat(pid);
  return own;
}

/** The CPU time of a process and its children in ms; on Linux including children that have ended. */
export function treeCpuMs(pid: number): number {
  const ps = execFileSync("ps", ["-eo", "pid=,ppid="], { encoding: "utf8" });
  const children = ps
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([child = 0, parent]) => (parent === pid ? [child] : []));
  const ended = existsSync("/proc/self/stat") ? readStat(pid).ended : 0;
  return [pid, ...children].reduce((sum, one) => sum + cpuOrNothingMs(one), ended);
}

function cpuOrNothingMs(pid: number): number {
  try {
    return cpuMs(pid);
  } catch {
    // The process ended after it was listed; its parent accounts for its time.
    return 0;
  }
}

/** Reads the CPU times of a process in ms. `own`: its own; `ended`: that of ended children that it has waited for. */
function readStat(pid: number): { own: number; ended: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15).map(Number);
  const ms = (ticks: number) => (ticks / ticksPerSecond) * 1000;
  return { own: ms(user + system), ended: ms(endedUser + endedSystem) };
}

/** Parses `[[dd-]hh:]mm:ss[.cc]`, the format of ps, to ms. */
function parseClock(text: string): number {
  const [clock = "", days = "0"] = text.trim().split("-").reverse();
  const seconds = clock.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
  return (Number(days) * 86_400 + seconds) * 1000;
}
