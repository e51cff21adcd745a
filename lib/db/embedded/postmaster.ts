import { spawn, spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { asAccount } from "./account";
import type { Binaries } from "./binaries";
import { lifeOf } from "./claim.mjs";
import type { Home } from "./home";

/**
 * The settings of the embedded Postgres. They are passed on its command line, so that each version of the service starts it with its own
 * settings. Durability is always on: an acknowledged cost survives any crash.
 */
const settings: Record<string, string> = {
  listen_addresses: "127.0.0.1",
  // No sockets: in a deep folder their path would be too long, and in /tmp everybody can write.
  unix_socket_directories: "",
  password_encryption: "scram-sha-256",
  fsync: "on",
  full_page_writes: "on",
  synchronous_commit: "on",
  max_connections: "100",
  shared_buffers: "128MB",
  effective_cache_size: "512MB",
  work_mem: "8MB",
  maintenance_work_mem: "64MB",
  // Compiling a plan takes longer than running the short statements of this service.
  jit: "off",
  timezone: "UTC",
  log_timezone: "UTC",
  lc_messages: "C",
  log_line_prefix: "%m [%p] %q%u@%d ",
  // A client that disappeared during a transaction must not hold its locks forever.
  idle_in_transaction_session_timeout: "60s",
};

/** A Postgres server that accepts connections. `ended` settles when its process ends, for any reason. */
export type Postmaster = { pid: number; port: number; ended: Promise<void> };

/** How to start a server. Postgres writes its output to `logFile`. */
export type Launch = {
  home: Home;
  binaries: Binaries;
  logFile: string;
  overrides: Record<string, string>;
  log: (message: string) => void;
};

/** How long a failed start is retried. The child processes of a killed Postgres hold its resources for some seconds. */
const retryForMs = 10_000;
/** How long the exit of this process waits for a server that it has asked to end immediately. */
const exitLimitMs = 600;
const logFileMaxBytes = 10 * 1024 * 1024;

/**
 * The server that already runs on this cluster, if any: one whose parent was killed. Waits for a server that is starting or shutting
 * down.
 */
export async function findPostmaster(home: Home): Promise<Postmaster | undefined> {
  for (;;) {
    const { pid, port, status } = readPidFile(home.cluster);
    if (pid === undefined || port === undefined || !isOurs(pid, home)) return undefined;
    if (status === "ready") return { pid, port, ended: endOf(pid) };
    await sleep(20);
  }
}

/**
 * Starts a server on the cluster and waits until it accepts connections, however long recovery takes.
 * @param port `wanted` is tried first; another port is used only if it is not `fixed`
 * @throws Error with the last lines of Postgres's log if it keeps ending
 */
export async function launchPostmaster(
  launch: Launch,
  port: { wanted: number | undefined; fixed: boolean },
): Promise<Postmaster> {
  const giveUpAt = Date.now() + retryForMs;
  let candidate = port.wanted ?? (await freePort());
  for (;;) {
    const started = await tryLaunch(launch, candidate);
    if ("port" in started) return started;
    if (Date.now() > giveUpAt) {
      throw new Error(
        `The embedded Postgres does not start. See ${launch.logFile}; it ends with:\n${started.words}`,
      );
    }
    await sleep(200);
    // The server of an earlier start may be running only now.
    const other = await findPostmaster(launch.home);
    if (other) {
      stopAtExit(other.pid, launch);
      return other;
    }
    if (!port.fixed) candidate = await freePort();
  }
}

async function tryLaunch(launch: Launch, port: number): Promise<Postmaster | { words: string }> {
  const { home, binaries, logFile } = launch;
  removeStalePidFile(home);
  if (existsSync(logFile) && statSync(logFile).size > logFileMaxBytes) truncateSync(logFile);
  const out = openSync(logFile, "a", 0o600);
  const options = Object.entries({ ...settings, ...launch.overrides, port: String(port) });
  // In a session of its own, so that Ctrl-C in the terminal reaches only the service, which stops Postgres after draining. Its
  // output goes to a file and not to a pipe, so that it can still write after its parent was killed.
  const child = spawn(
    binaries.postgres,
    ["-D", home.cluster, ...options.flatMap(([key, value]) => ["-c", `${key}=${value}`])],
    {
      ...asAccount(home.account),
      detached: true,
      stdio: ["ignore", out, out],
    },
  );
  closeSync(out);
  child.unref();
  if (child.pid !== undefined) stopAtExit(child.pid, launch);
  let over = false;
  let failure: Error | undefined;
  const ended = new Promise<void>((resolve) => {
    const settle = (error?: Error) => {
      over = true;
      failure = error;
      resolve();
    };
    child.once("exit", () => {
      unstopped.delete(child.pid ?? 0);
      settle();
    });
    child.once("error", settle);
  });
  const since = Date.now();
  let loggedAt = since;
  while (!over) {
    const { pid, status } = readPidFile(home.cluster);
    // The file of an earlier server may still say "ready", so the process id must be that of the child.
    if (child.pid !== undefined && pid === child.pid && status === "ready")
      return { pid: child.pid, port, ended };
    if (Date.now() - loggedAt > 10_000) {
      loggedAt = Date.now();
      launch.log(
        `Postgres has been starting for ${Math.round((loggedAt - since) / 1000)} s; it may be recovering.`,
      );
    }
    await sleep(10);
  }
  return { words: failure?.message ?? lastWords(logFile) };
}

/** The servers of this process that have not been stopped, by their process ids. */
const unstopped = new Map<number, Launch>();

/**
 * Stops a server when this process exits for any reason (`process.exit`, an uncaught error), unless `stopPostmaster` has stopped it
 * before: a server that outlives its parent keeps the data folder in use. Only after SIGKILL does the server continue.
 */
export function stopAtExit(pid: number, launch: Launch): void {
  unstopped.set(pid, launch);
}

process.once("exit", stopAtOnce);

/** Ends all servers without a checkpoint, and waits until they have ended. Their next start recovers. */
function stopAtOnce(): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (const [pid, { home, binaries }] of unstopped) {
    if (process.platform === "win32") {
      spawnSync(
        binaries.pgCtl,
        ["stop", "-D", home.cluster, "-m", "immediate", "-w"],
        asAccount(home.account),
      );
      continue;
    }
    for (const signal of ["SIGQUIT", "SIGKILL"] as const) {
      if (!isOurs(pid, home)) break;
      process.kill(pid, signal);
      const giveUpAt = performance.now() + exitLimitMs;
      // The server removes the file when it ends. During an exit, the end of the process itself cannot be awaited.
      while (performance.now() < giveUpAt && readPidFile(home.cluster).pid === pid && isOurs(pid, home)) {
        Atomics.wait(pause, 0, 0, 10);
      }
    }
  }
}

/** Asks a server to end its sessions and stop, and forces it after 20 seconds. Returns when its process has ended. */
export async function stopPostmaster(postmaster: Postmaster, launch: Launch): Promise<void> {
  await stop(postmaster, launch);
  unstopped.delete(postmaster.pid);
}

async function stop(postmaster: Postmaster, { home, binaries }: Launch): Promise<void> {
  if (process.platform === "win32") {
    spawnSync(binaries.pgCtl, ["stop", "-D", home.cluster, "-m", "fast", "-w"], asAccount(home.account));
    return;
  }
  for (const signal of ["SIGINT", "SIGQUIT", "SIGKILL"] as const) {
    // Another process may have the id of an ended server by now.
    if (!isOurs(postmaster.pid, home)) return;
    process.kill(postmaster.pid, signal);
    if (await endsWithin(postmaster, 20_000)) return;
  }
}

/** Whether a server ends within a time. Unlike `ended` alone, keeps this process running meanwhile. */
async function endsWithin({ ended }: Postmaster, limitMs: number): Promise<boolean> {
  const limit = new AbortController();
  const tooLong = sleep(limitMs, false, { signal: limit.signal }).catch(() => false);
  const inTime = await Promise.race([ended.then(() => true), tooLong]);
  limit.abort();
  return inTime;
}

/** Reads postmaster.pid: line 1 has the process id, line 4 the port, line 8 the status. */
function readPidFile(cluster: string): { pid?: number; port?: number; status?: string } {
  let lines: string[];
  try {
    lines = readFileSync(join(cluster, "postmaster.pid"), "utf8").split("\n");
  } catch {
    return {};
  }
  const [pid, port, status] = [Number(lines[0]), Number(lines[3]), lines[7]?.trim()];
  return { ...(pid > 0 && { pid }), ...(port > 0 && { port }), ...(status && { status }) };
}

/**
 * Removes the file of a killed server if another process has its process id now, which is likely in a container, where ids start over.
 * Postgres would take that process for a server and refuse to start.
 */
function removeStalePidFile(home: Home): void {
  const { pid } = readPidFile(home.cluster);
  if (pid !== undefined && lifeOf(pid) !== undefined && !isOurs(pid, home)) {
    rmSync(join(home.cluster, "postmaster.pid"), { force: true });
  }
}

/** Whether a process runs and is the server of this cluster, not another process with the same id. */
function isOurs(pid: number, home: Home): boolean {
  if (lifeOf(pid) === undefined) return false;
  if (process.platform !== "linux") return true;
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(home.cluster);
  } catch {
    return false;
  }
}

/** Waits for the end of a server that is not a child of this process, by polling. */
async function endOf(pid: number): Promise<void> {
  const life = lifeOf(pid);
  while (life !== undefined && lifeOf(pid) === life) await sleep(100, undefined, { ref: false });
}

/** A free port. Another process may still take it before Postgres does. */
async function freePort(): Promise<number> {
  const port = await isFree(0);
  if (port === undefined) throw new Error("This machine has no free port on 127.0.0.1.");
  return port;
}

/** The port, if it is free on 127.0.0.1; undefined otherwise. @param wanted 0 for any free port */
export function isFree(wanted: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(undefined));
    server.listen({ host: "127.0.0.1", port: wanted, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : undefined));
    });
  });
}

function lastWords(logFile: string): string {
  return readFileSync(logFile, "utf8").trimEnd().split("\n").slice(-5).join("\n");
}
