import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createWriteStream, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Runs a shell script. @returns its output. @throws Error with its output if it fails */
export function shell(script: string, options: { cwd?: string; env?: Record<string, string> } = {}): string {
  const { status, stdout, stderr } = spawnSync("bash", ["-euo", "pipefail", "-c", script], {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  if (status !== 0)
    throw new Error(`${script}\nended with ${status}:\n${stdout.slice(-2000)}${stderr.slice(-4000)}`);
  return stdout;
}

/** Like `shell`, as another user and with an empty environment, except for certificates. */
export function shellAs(user: string, script: string, cwd: string, env: Record<string, string> = {}): string {
  return shell(asUser(user, env, `bash -euo pipefail -c ${quote(script)}`), { cwd });
}

/** A command line that runs another command line as a user, with the given environment. */
export function asUser(user: string, env: Record<string, string>, command: string): string {
  const settings = { ...certificates(), ...env };
  const given = Object.entries(settings).map(([name, value]) => quote(`${name}=${value}`));
  const home = shell(`getent passwd ${user} | cut -d: -f6`).trim();
  return `setpriv --reuid ${user} --regid ${user} --init-groups --no-new-privs env -i HOME=${home} USER=${user} PATH="$PATH" ${given.join(" ")} ${command}`;
}

export const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** The certificate authority of the network, which `npm ci` may need. */
function certificates(): Record<string, string> {
  const file = process.env.NODE_EXTRA_CA_CERTS;
  return file === undefined ? {} : { NODE_EXTRA_CA_CERTS: file };
}

/** A program that runs until it is stopped. `output()`: what it has printed. */
export type Running = {
  child: ChildProcess;
  output: () => string;
  stop(signal?: NodeJS.Signals): Promise<void>;
};

const running = new Set<Running>();

/** Starts a command line in the background. @param logFile receives its output */
export function start(command: string, logFile: string, cwd?: string, env?: Record<string, string>): Running {
  const child = spawn("bash", ["-c", `exec ${command}`], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const log = createWriteStream(logFile, { flags: "a" });
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const program: Running = {
    child,
    output: () => readFileSync(logFile, "utf8"),
    async stop(signal = "SIGTERM") {
      running.delete(program);
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      await ended;
      log.end();
    },
  };
  running.add(program);
  return program;
}

/** Stops all programs that still run, the latest first. */
export async function stopAll(): Promise<void> {
  for (const program of [...running].reverse()) await program.stop();
}

/**
 * Waits until a service answers its health check with 200.
 * @returns the answer. @throws Error with the end of its output where it ends or takes longer than 15 minutes
 */
export async function healthy(
  address: string,
  program: Running,
): Promise<{ checks: Record<string, unknown> }> {
  const until = Date.now() + 15 * 60_000;
  for (;;) {
    const response = await fetch(`${address}/api/health`).catch(() => undefined);
    if (response?.ok) return response.json();
    if (program.child.exitCode !== null || Date.now() > until)
      throw new Error(`${address} does not serve; its output ends with:\n${program.output().slice(-4000)}`);
    await sleep(500);
  }
}

/** Prints what was checked. @throws Error if the check failed */
export function seen(what: string, isSo: boolean, found?: unknown): void {
  if (!isSo)
    throw new Error(`not seen: ${what}${found === undefined ? "" : `, but ${JSON.stringify(found)}`}`);
  process.stdout.write(`  ${what}\n`);
}
