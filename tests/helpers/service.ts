import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { findStalePages } from "@/scripts/build-record.mjs";
import { isInstalled } from "@/scripts/prepare.mjs";
import type { TestDatabase } from "./database";
import { noteProject } from "./hosted-sign-in";
import { projectRoot } from "./project-root";

/** A running service: the bundled server in its own process, as `npm start` runs it. */
export type Service = {
  baseUrl: string;
  process: ChildProcess;
  /** The lines that it has printed. */
  said: readonly string[];
  /** Sends SIGTERM. Resolves with the exit status when all pending requests are answered. */
  stop(): Promise<number | null>;
  /** Sends SIGKILL. Resolves when the process has ended. */
  kill(): Promise<void>;
};

/** Settings of the test run that must not reach the service. */
const ours = ["VITEST", "VITEST_MODE", "VITEST_POOL_ID", "VITEST_WORKER_ID", "TEST", "BASE_URL", "LOG_LEVEL"];

/** What every service takes from a program that reads its metrics. */
export const monitoring = { authorization: "Bearer token-of-the-tests" };

/** A setting of a service with a supervisor, which kills a worker whose event loop has stood for two seconds. */
export const supervised = { OUTLAY_STALL_SECONDS: "2" };

/** Settings of a service that serves pages. Without them it serves none, and needs no build of them. */
export const withPages = { OUTLAY_PAGES: "on" };

/** @throws where other packages are installed than the lockfile names: `npm start` and `npm test` install, Vitest and Playwright do not */
export function requireInstalled(): void {
  if (!isInstalled()) throw new Error("node_modules differs from package-lock.json: run `npm ci`.");
}

/** @throws where the pages are not built from the sources as they are: only `npm run build` and `npm test` build them */
export function requirePages(): void {
  const reason = findStalePages();
  if (reason) throw new Error(`This test needs the pages, and ${reason}: run \`npm run build\`.`);
}

/**
 * Starts the service on a test's database and a free port, without pages and a supervisor unless the settings enable them.
 * @param program the bundle of the server
 * @throws Error with its output where it ends before it is ready
 */
export async function startService(
  database: Pick<TestDatabase, "url" | "adminUrl" | "project">,
  settings: Record<string, string> = {},
  program = "dist/server.mjs",
): Promise<Service> {
  // With OUTLAY_FAST_LANE=off, Next serves everything.
  const { OUTLAY_PAGES = settings.OUTLAY_FAST_LANE === "off" ? "on" : "off" } = settings;
  if (OUTLAY_PAGES === "on") requirePages();
  const ofProject =
    database.project && (await import("@/tests/supabase/project")).settingsFor(database.project);
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.includes(name)));
  const child = spawn(process.execPath, ["--enable-source-maps", "--max-semi-space-size=32", program], {
    cwd: projectRoot,
    env: {
      ...inherited,
      NODE_ENV: "production",
      PORT: "0",
      OUTLAY_PAGES,
      OUTLAY_STALL_SECONDS: "0",
      METRICS_TOKEN: "token-of-the-tests",
      POSTGRES_URL: database.url,
      POSTGRES_URL_NON_POOLING: database.adminUrl,
      // Tests fetch nothing that changes from day to day.
      RATES_URL: "off",
      PRICES_URL: "off",
      // Nor do they ask providers, unless a test has a simulator of them.
      PROVIDER_URLS: "off",
      SEALING_KEYS: "dGhlLXNlYWxpbmcta2V5LW9mLXRoZS10ZXN0cy0zMmI=",
      ...ofProject,
      ...settings,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const gone = once(child, "exit");
  const said: string[] = [];
  const ready = new Promise<string>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        said.push(line);
        const address = /ready\b.*(http:\/\/[\w.:[\]]+)/i.exec(line)?.[1];
        if (address) resolve(address);
      });
    }
  });
  const failed = gone.then(() => {
    throw new Error(`The service ended before it was ready:\n${said.join("\n")}`);
  });
  const baseUrl = await Promise.race([ready, failed]);
  failed.catch(() => {});
  if (database.project) noteProject(baseUrl, database.project);
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      await gone;
    }
    return child.exitCode;
  };
  return {
    baseUrl,
    process: child,
    said,
    stop: () => end("SIGTERM"),
    kill: async () => void (await end("SIGKILL")),
  };
}
