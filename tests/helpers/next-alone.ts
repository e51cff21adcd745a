import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { projectRoot } from "./project-root";
import { requirePages } from "./service";

/**
 * Starts the built app with Next's own server on a free port, as a platform without our server does. It has no database.
 * @throws Error where the pages are not built, or the process ends before it is ready
 */
export async function startNextAlone(settings: Record<string, string>) {
  requirePages();
  const child = spawn(
    process.execPath,
    [join(projectRoot, "node_modules/next/dist/bin/next"), "start", "-p", "0"],
    {
      cwd: projectRoot,
      env: {
        ...process.env,
        NODE_ENV: "production",
        POSTGRES_URL: "postgres://nobody@127.0.0.1:1/none",
        ...settings,
      },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const gone = once(child, "exit");
  const stop = async () => {
    child.kill("SIGTERM");
    await gone;
  };
  let port: string | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    port ??= /localhost:(\d+)/.exec(line)?.[1];
    if (port && /ready in/i.test(line)) {
      child.stdout.resume();
      return { baseUrl: `http://127.0.0.1:${port}`, stop };
    }
  }
  throw new Error("Next ended before it was ready.");
}
