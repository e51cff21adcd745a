import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { basename, join } from "node:path";
import { build } from "esbuild";
import { projectRoot } from "./project-root";

/** Bundles a TypeScript program for plain Node, into a folder in node_modules, so that it finds the packages. */
export async function bundleScript(entry: string): Promise<string> {
  const outfile = join(
    projectRoot,
    "node_modules/.cache/outlay-tests",
    `${basename(entry, ".ts")}-${process.pid}.mjs`,
  );
  await build({
    entryPoints: [join(projectRoot, entry)],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    logLevel: "error",
  });
  return outfile;
}

/** A running program whose output is kept. */
export type Script = {
  child: ChildProcess;
  pid: number;
  /** Waits for the first line of standard output for which `find` returns a value; fails when the program ends before. */
  line<T>(find: (line: string) => T | undefined): Promise<T>;
  /** Waits for the end of the program. `status` is null when a signal ended it. */
  ended: Promise<{ status: number | null; output: string }>;
};

/** Starts Node with a program. The caller ends it. */
export function startScript(file: string, args: string[], environment: Record<string, string> = {}): Script {
  const child = spawn(process.execPath, [file, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...environment },
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
    child.emit("said");
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  let over = false;
  const ended = once(child, "close").then(([status]) => {
    over = true;
    child.emit("said");
    return { status: status as number | null, output: stdout + stderr };
  });
  const line = async <T>(find: (line: string) => T | undefined): Promise<T> => {
    for (;;) {
      const lines = stdout.split("\n");
      for (const candidate of lines.slice(0, over ? undefined : -1)) {
        const found = find(candidate);
        if (found !== undefined) return found;
      }
      if (over) throw new Error(`The program ended without the awaited line:\n${stdout}${stderr}`);
      await once(child, "said");
    }
  };
  return { child, pid: child.pid ?? 0, line, ended };
}
