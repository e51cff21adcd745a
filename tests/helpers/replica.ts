import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, chmodSync, cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Client } from "pg";
import { asAccount } from "@/lib/db/embedded/account";
import { prepareBinaries } from "@/lib/db/embedded/binaries";
import { loginUrl } from "@/lib/db/embedded/cluster";
import { findHome } from "@/lib/db/embedded/home";
import { readState } from "@/lib/db/embedded/state";
import { makeDataDir } from "./cluster";
import { childrenOf, type EmbeddedService } from "./embedded-service";
import { freePort } from "./free-port";

/** A streaming replica of an embedded database, by Postgres's own replication. */
export type Replica = {
  /** Logs in as the service. */
  url: string;
  /** Sends SIGSTOP to all its processes: its sockets stay open, and nothing answers. */
  pause(): void;
  /** Sends SIGCONT to those that are left. */
  resume(): void;
  /** Runs a statement on it, as the superuser. */
  query(text: string): Promise<Record<string, unknown>[]>;
  /** Ends it at once, as a failing machine does. */
  stop(): Promise<void>;
};

/** Copies the database of a running service and starts a replica that follows it. */
export async function startReplica(embedded: EmbeddedService): Promise<Replica> {
  const { dataDir } = embedded;
  const state = readState(dataDir);
  const home = findHome(dataDir, state, () => {});
  const primaryPort = state.port ?? 0;
  const folder = makeDataDir();
  const cluster = join(folder, "cluster");
  appendFileSync(join(home.cluster, "pg_hba.conf"), "host replication all 127.0.0.1/32 scram-sha-256\n");
  const primary = new Client({ connectionString: loginUrl(state, primaryPort, "supabase_admin") });
  await primary.connect();
  await primary.query("select pg_reload_conf()");
  await primary.query("select pg_backup_start('replica', fast => true)");
  cpSync(home.cluster, cluster, {
    recursive: true,
    filter: (path) => !/postmaster\.(pid|opts)$|pg_stat_tmp\/./.test(path),
  });
  const { rows } = await primary.query("select labelfile from pg_backup_stop(wait_for_archive => false)");
  await primary.end();
  writeFileSync(join(cluster, "backup_label"), rows[0].labelfile);
  writeFileSync(join(cluster, "standby.signal"), "");
  const follows = `host=127.0.0.1 port=${primaryPort} user=postgres password=${state.passwords.postgres}`;
  appendFileSync(join(cluster, "postgresql.auto.conf"), `primary_conninfo = '${follows}'\n`);
  chmodSync(cluster, 0o700);
  if (home.account) execFileSync("chown", ["-R", `${home.account.uid}:${home.account.gid}`, cluster]);
  const port = await freePort();
  const settings = { listen_addresses: "127.0.0.1", port, unix_socket_directories: "", timezone: "UTC" };
  const child = spawn(
    prepareBinaries(home).postgres,
    ["-D", cluster, ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])],
    { ...asAccount(home.account), stdio: "ignore" },
  );
  const ended = once(child, "exit");
  const signal = (name: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
    for (const pid of [child.pid, ...childrenOf(child.pid)]) process.kill(pid, name);
  };
  const url = loginUrl(state, port, "supabase_admin");
  const query = async (text: string) => {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  };
  while (
    await query("select 1").then(
      () => false,
      () => child.exitCode === null,
    )
  )
    await wait(50);
  return {
    url: loginUrl(state, port, "outlay_service"),
    pause: () => signal("SIGSTOP"),
    resume: () => signal("SIGCONT"),
    query,
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) {
        signal("SIGCONT");
        child.kill("SIGQUIT");
        await ended;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
