/*
 * The programs and libraries that are tried, in a folder of their own: packages of npm by `package-lock.json` and packages of
 * Python 3.11 by the files of `requirements`, each in an environment of its own, because their versions exclude each other.
 * `OUTLAY_EMITTERS_TOOLS` names another folder.
 */
import { execFile, spawn } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "./root.mjs";

const execute = promisify(execFile);
const here = join(root, "tests/emitters");

export const toolsFolder = process.env.OUTLAY_EMITTERS_TOOLS ?? join(tmpdir(), "outlay-emitters-tools");
const venvOf = (name) => join(toolsFolder, "venvs", name);

/** Installs the tools that the emitters run. Installation scripts of packages do not run. */
export async function installTools() {
  mkdirSync(toolsFolder, { recursive: true });
  for (const file of ["package.json", "package-lock.json"])
    copyFileSync(join(here, file), join(toolsFolder, file));
  await execute("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: toolsFolder });
  for (const file of readdirSync(join(here, "requirements"))) {
    const name = file.replace(".txt", "");
    await execute("python3", ["-m", "venv", venvOf(name)]);
    const pip = ["-m", "pip", "install", "--quiet", "-r", join(here, "requirements", file)];
    await execute(pythonBin(name, "python"), pip);
  }
  await buildCollector();
}

const collectorFolder = join(toolsFolder, "collector");
/** The OpenTelemetry Collector of `collector.yaml`. */
export const collector = join(collectorFolder, "built/collector");
export const collectorVersion = "0.165.0";

/** Builds the Collector with its own builder, which needs Go. */
async function buildCollector() {
  mkdirSync(collectorFolder, { recursive: true });
  copyFileSync(join(here, "collector.yaml"), join(collectorFolder, "collector.yaml"));
  const builder = `go.opentelemetry.io/collector/cmd/builder@v${collectorVersion}`;
  await execute("go", ["install", builder], { env: { ...process.env, GOBIN: collectorFolder } });
  await execute(join(collectorFolder, "builder"), ["--config", "collector.yaml"], { cwd: collectorFolder });
}

/** Copies the programs to where they find the packages. @returns the path of a program, by its name */
export function placePrograms() {
  const folder = join(toolsFolder, "programs");
  if (existsSync(toolsFolder)) cpSync(join(here, "programs"), folder, { recursive: true });
  return (name) => join(folder, name);
}

/**
 * Finds the installed versions of packages.
 * @param packages names of npm packages, and those of Python as `python:ENVIRONMENT/NAME`
 * @returns `{ versions }`, the version by name, or `{ missing }`, the names of packages that are not installed
 */
export function findVersions(packages) {
  const versions = {};
  const missing = [];
  for (const name of packages) {
    const version = name.startsWith("python:") ? pythonVersion(name.slice(7)) : npmVersion(name);
    if (version === undefined) missing.push(name);
    else versions[name] = version;
  }
  return missing.length > 0 ? { missing } : { versions };
}

function npmVersion(name) {
  try {
    const manifest = JSON.parse(
      readFileSync(join(toolsFolder, "node_modules", name, "package.json"), "utf8"),
    );
    return manifest.version;
  } catch {
    return undefined;
  }
}

function pythonVersion(path) {
  const [venv, name] = path.split("/");
  const lib = join(venvOf(venv), "lib");
  if (!existsSync(lib)) return undefined;
  const found = readdirSync(lib)
    .flatMap((each) => readdirSync(join(lib, each, "site-packages")))
    .map((each) => /^(.+)-([^-]+)\.dist-info$/.exec(each))
    .find((match) => match?.[1].replaceAll("_", "-").toLowerCase() === name.toLowerCase());
  return found?.[2];
}

/** An executable of an npm package or of an environment of Python. */
export const npmBin = (path) => join(toolsFolder, "node_modules", path);
export const pythonBin = (venv, name) =>
  join(venvOf(venv), process.platform === "win32" ? "Scripts" : "bin", name);

/**
 * Runs a program that may reach this machine alone.
 * @returns its output
 * @throws Error with the output where it fails or does not end in time
 */
export async function runProgram(
  [program, ...args],
  { env = {}, cwd = toolsFolder, timeoutMs = 120_000 } = {},
) {
  const child = startProgram([program, ...args], { env, cwd });
  const timer = setTimeout(() => child.process.kill("SIGKILL"), timeoutMs);
  const { status, output } = await child.ended;
  clearTimeout(timer);
  if (status !== 0) throw new Error(`${program} ended with ${status}:\n${output.slice(-4000)}`);
  return output;
}

/** Starts a program that may reach this machine alone. @returns `{ process, ended, output }` */
export function startProgram([program, ...args], { env = {}, cwd = toolsFolder, stdin = "ignore" } = {}) {
  const child = spawn(program, args, {
    cwd,
    env: {
      PATH: process.env.PATH,
      // Nothing listens there, so that what is not on this machine cannot be reached.
      HTTP_PROXY: "http://127.0.0.1:9",
      HTTPS_PROXY: "http://127.0.0.1:9",
      NO_PROXY: "127.0.0.1,localhost",
      no_proxy: "127.0.0.1,localhost",
      ...env,
    },
    stdio: [stdin, "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      said += chunk;
    });
  const ended = new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (status, signal) => resolve({ status: status ?? signal, output: said }));
  });
  return { process: child, ended, output: () => said };
}
