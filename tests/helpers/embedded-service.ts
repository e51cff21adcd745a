import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { loginUrl } from "@/lib/db/embedded/cluster";
import { readState } from "@/lib/db/embedded/state";
import { makeDataDir } from "./cluster";
import { Fixtures } from "./keys";
import { type Service, startService } from "./service";

/** The service on an embedded Postgres of its own, with the durable settings it has in earnest. */
export type EmbeddedService = {
  service: Service;
  fixtures: Fixtures;
  /** SIGKILL to the postmaster, and to every process it started as well where `children` says so. */
  killPostgres(options: { children: boolean }): void;
  stop(): Promise<void>;
};

/** Starts the service in an empty data folder, which `stop()` removes. */
export async function startEmbeddedService(): Promise<EmbeddedService> {
  const dataDir = makeDataDir();
  const service = await startService(
    { url: "", adminUrl: "" },
    { OUTLAY_DATA_DIR: dataDir, LOG_LEVEL: "silent" },
  );
  const state = readState(dataDir);
  const fixtures = new Fixtures(loginUrl(state, state.port ?? 0, "postgres"));
  // Its idle connections die with the server; the next query opens another.
  fixtures.sql.on("error", () => {});
  return {
    service,
    fixtures,
    killPostgres: ({ children }) => {
      const pidFile = join(state.home ?? join(dataDir, "postgres"), "cluster/postmaster.pid");
      const postmaster = Number(readFileSync(pidFile, "utf8").split("\n", 1)[0]);
      const doomed = children ? childrenOf(postmaster) : [];
      for (const pid of [postmaster, ...doomed]) process.kill(pid, "SIGKILL");
    },
    stop: async () => {
      await fixtures.close();
      await service.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

function childrenOf(parent: number): number[] {
  return execFileSync("ps", ["-eo", "pid=,ppid="], { encoding: "utf8" })
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([pid = 0, of]) => (of === parent ? [pid] : []));
}
