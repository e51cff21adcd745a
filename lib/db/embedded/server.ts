import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DatabaseError } from "pg";
import { prepareBinaries } from "./binaries";
import { type Claim, claimDataFolder } from "./claim.mjs";
import { enableLogin, ensureCluster, ensureDatabase, loginUrl } from "./cluster";
import { findHome } from "./home";
import {
  findPostmaster,
  isFree,
  type Launch,
  launchPostmaster,
  type Postmaster,
  stopAtExit,
  stopPostmaster,
} from "./postmaster";
import { readState, writeState } from "./state";

/** A running embedded Postgres. Its URLs stay valid until `stop()`, even after a crash and restart. */
export type EmbeddedPostgres = {
  /** Logs in as supabase_admin, the superuser. For the bootstrap only. */
  superuserUrl: string;
  /** Logs in as postgres, which owns the database and is not a superuser. For migrations, seeds and maintenance. */
  adminUrl: string;
  /** Logs in as outlay_service, which the running service uses. Works after `enableServiceLogin()`. */
  url: string;
  port: number;
  /** The present process id of the server. */
  pid: () => number;
  /** Whether a server that outlived its parent was taken over. */
  reused: boolean;
  /** Lets `url` log in. Call it after the migrations, which create the role. */
  enableServiceLogin(): Promise<void>;
  /** Publishes the service's address, which a second start on this data folder prints. */
  announce(address: string): void;
  /** Stops the server, which ends its sessions but loses nothing, and releases the data folder. */
  stop(): Promise<void>;
};

export type EmbeddedOptions = {
  /** The data folder, which is created if it is missing. */
  dataDir: string;
  /** Receives messages for the user. */
  log: (message: string) => void;
  /** A claim on `dataDir` that the caller already has; `stop()` releases it. */
  claim?: Claim;
  /** Postgres settings that differ from the default ones, for tests. */
  overrides?: Record<string, string>;
};

/**
 * Starts the embedded Postgres of a data folder: creates the cluster the first time, takes over a server that outlived its parent, and
 * restarts the server whenever it ends by itself.
 * @throws AlreadyRunningError if another process uses this data folder
 * @throws Error if there is no Postgres for this platform, or it does not start
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const claim = options.claim ?? (await claimDataFolder(options.dataDir));
  try {
    return await start(claim, options);
  } catch (error) {
    claim.release();
    throw error;
  }
}

async function start(claim: Claim, { log, overrides = {} }: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { dataDir } = claim;
  const state = readState(dataDir);
  const home = findHome(dataDir, state, log);
  state.dataDir = dataDir;
  // Written before the cluster exists, because its passwords must never be lost.
  writeState(dataDir, state);
  const binaries = prepareBinaries(home);
  const launch: Launch = { home, binaries, logFile: join(dataDir, "postgres.log"), overrides, log };

  const adopted = await findPostmaster(home);
  if (adopted) {
    log(`Found this data folder's Postgres still running (process ${adopted.pid}); using it.`);
    stopAtExit(adopted.pid, launch);
  } else await ensureCluster(home, binaries, state.passwords.supabase_admin);
  const postmaster =
    adopted ?? (await launchPostmaster(launch, { wanted: await lastPort(state.port), fixed: false }));
  state.port = postmaster.port;
  writeState(dataDir, state);

  const supervisor = supervise(postmaster, launch);
  try {
    await ensureDatabase(state, postmaster.port);
  } catch (error) {
    await supervisor.stop();
    throw error instanceof DatabaseError && error.code === "28P01"
      ? new Error(`The database in ${home.cluster} has other passwords than ${dataDir}/postgres.json says.`)
      : error;
  }
  const { port } = postmaster;
  const superuserUrl = loginUrl(state, port, "supabase_admin");
  return {
    superuserUrl,
    adminUrl: loginUrl(state, port, "postgres"),
    url: loginUrl(state, port, "outlay_service"),
    port,
    pid: supervisor.pid,
    reused: adopted !== undefined,
    enableServiceLogin: () => enableLogin(superuserUrl, "outlay_service", state.passwords.outlay_service),
    announce: claim.announce,
    stop: async () => {
      await supervisor.stop();
      claim.release();
    },
  };
}

async function lastPort(port: number | undefined): Promise<number | undefined> {
  return port === undefined ? undefined : isFree(port);
}

/** Keeps a server running on its port until stopped. */
function supervise(first: Postmaster, launch: Launch): { pid: () => number; stop: () => Promise<void> } {
  let current = first;
  let stopping = false;

  const revive = async () => {
    launch.log(`Postgres (process ${current.pid}) ended by itself; starting it again.`);
    for (let waitMs = 100; !stopping; waitMs = Math.min(waitMs * 2, 10_000)) {
      try {
        current = await launchPostmaster(launch, { wanted: first.port, fixed: true });
        launch.log(`Postgres is back (process ${current.pid}).`);
        return;
      } catch (error) {
        launch.log(error instanceof Error ? error.message : String(error));
        await sleep(waitMs);
      }
    }
  };
  const watch = async () => {
    while (!stopping) {
      await current.ended;
      if (!stopping) await revive();
    }
  };
  const watching = watch();

  let stopped: Promise<void> | undefined;
  const stop = async () => {
    stopping = true;
    await stopPostmaster(current, launch);
    // A restart may have been in progress. Afterwards it has succeeded or failed.
    await watching;
    await stopPostmaster(current, launch);
  };
  return {
    pid: () => current.pid,
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}
