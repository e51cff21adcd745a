import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";
import { loginUrl } from "@/lib/db/embedded/cluster";
import { readState, writeState } from "@/lib/db/embedded/state";
import { asSuperuser, makeDataDir } from "./cluster";
import { Fixtures } from "./keys";
import { type Service, startService } from "./service";

/** The service on an embedded Postgres of its own, with the durable settings of production. */
export type EmbeddedService = {
  service: Service;
  fixtures: Fixtures;
  dataDir: string;
  /** The process id of its Postgres. */
  postmaster(): number;
  /** Logs in as the owner of the schema. */
  adminUrl: string;
  /** Sends SIGKILL to the postmaster; with `children`, also to every process that it started. */
  killPostgres(options: { children: boolean }): void;
  /** Sends SIGSTOP to the postmaster and all its processes: its sockets stay open, and nothing answers. */
  pausePostgres(): void;
  /** Sends SIGCONT to all of them. */
  resumePostgres(): void;
  stop(): Promise<void>;
};

const startIn = (dataDir: string, settings: Record<string, string> = {}) =>
  startService({ url: "", adminUrl: "" }, { OUTLAY_DATA_DIR: dataDir, LOG_LEVEL: "silent", ...settings });

/**
 * A data folder as the first start in an empty one leaves it. A run makes it once, also if several files ask at the same time: to
 * create the cluster and its schema takes three times the processor time of a start.
 */
async function ensureDataDir(): Promise<string> {
  const cluster = inject("cluster");
  const dataDir = join(cluster.folder, "of-services");
  const made = join(dataDir, "made");
  await asSuperuser(cluster, async (client) => {
    // Held until the connection is closed.
    await client.query("select pg_advisory_lock(hashtext($1))", [dataDir]);
    if (existsSync(made)) return;
    rmSync(dataDir, { recursive: true, force: true });
    mkdirSync(dataDir, { mode: 0o755 });
    await (await startIn(dataDir)).stop();
    writeFileSync(made, "");
  });
  return dataDir;
}

/** Starts the service in a data folder of its own, a copy of one that was started and stopped. `stop()` deletes it. */
export async function startEmbeddedService(settings: Record<string, string> = {}): Promise<EmbeddedService> {
  const dataDir = makeDataDir();
  execFileSync("cp", ["-a", `${await ensureDataDir()}/.`, dataDir]);
  // Without the port, on which another copy may be starting.
  const { port: _, ...copied } = readState(dataDir);
  writeState(dataDir, copied);
  const service = await startIn(dataDir, settings);
  const state = readState(dataDir);
  const adminUrl = loginUrl(state, state.port ?? 0, "postgres");
  const fixtures = new Fixtures(adminUrl);
  const postmaster = () =>
    Number(
      readFileSync(join(state.home ?? join(dataDir, "postgres"), "cluster/postmaster.pid"), "utf8").split(
        "\n",
        1,
      )[0],
    );
  return {
    service,
    fixtures,
    dataDir,
    postmaster,
    adminUrl,
    killPostgres: ({ children }) => {
      const parent = postmaster();
      const doomed = children ? childrenOf(parent) : [];
      for (const pid of [parent, ...doomed]) process.kill(pid, "SIGKILL");
    },
    pausePostgres: () => {
      const parent = postmaster();
      // The parent first, so that it starts no more children.
      process.kill(parent, "SIGSTOP");
      for (const pid of childrenOf(parent)) process.kill(pid, "SIGSTOP");
    },
    resumePostgres: () => {
      const parent = postmaster();
      for (const pid of [...childrenOf(parent), parent]) process.kill(pid, "SIGCONT");
    },
    stop: async () => {
      await fixtures.close();
      await service.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** The processes that a process has started. */
export function childrenOf(parent: number): number[] {
  return execFileSync("ps", ["-eo", "pid=,ppid="], { encoding: "utf8" })
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([pid = 0, of]) => (of === parent ? [pid] : []));
}
