import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import pg from "pg";
import { startEmbeddedPostgres } from "@/lib/db/embedded/server";
import { bootstrapDatabaseAt, migrate } from "@/lib/db/migrate";
import { makeDataDir } from "@/tests/helpers/cluster";
import { projectRoot } from "@/tests/helpers/project-root";
import { treeCpuMs } from "../cpu";
import { startLitellm } from "./litellm";
import { startOtari } from "./otari";
import { startOutlay } from "./outlay";
import type { Conditions, Outcome, Peer } from "./peer";
import { type Provider, startProvider, usdOf } from "./provider";

// Compares what keeps a limit on spend: how many calls the model answers when callers want more than the limit has room for, and what the
// ledger has of them; the same while a process is killed; and the CPU time of a call. See `scripts/bench-peers.mjs`.

const { values: options } = parseArgs({
  options: {
    otari: { type: "string" },
    litellm: { type: "string" },
    only: { type: "string" },
    calls: { type: "string", default: "2000" },
    callers: { type: "string", default: "64" },
  },
});
const calls = Number(options.calls);
const callers = Number(options.callers);
const kills = 3;
const say = (text: string) => process.stdout.write(`${text}\n`);

type Start = (conditions: Conditions) => Promise<Peer>;
type Result = {
  name: string;
  answered: number;
  recordedUsd: number;
  heldUsd?: number;
  failed: number;
  seconds: number;
  cpuMs: number;
  postgresCpuMs: number;
};

/** Has callers make calls, and optionally kills a process meanwhile. @returns the calls by what became of them */
async function makeCalls(peer: Peer, isKilling: boolean): Promise<Record<Outcome, number>> {
  const outcomes: Record<Outcome, number> = { answered: 0, refused: 0, failed: 0 };
  let next = 0;
  const load = Array.from({ length: callers }, async () => {
    while (next < calls) {
      next += 1;
      outcomes[await peer.call()] += 1;
    }
  });
  const chaos = async () => {
    for (let kill = 1; kill <= kills; kill += 1) {
      // The limit has room for half of the calls.
      while (next < (calls / 2 / (kills + 1)) * kill) await wait(10);
      await peer.kill();
    }
  };
  await Promise.all([...load, isKilling ? chaos() : undefined]);
  return outcomes;
}

/** Waits until what a ledger says no longer changes for five seconds. @returns what it says then */
async function readSettled(peer: Peer) {
  for (let last = "", stable = 0; ; await wait(500)) {
    const read = await peer.read();
    const text = JSON.stringify(read);
    stable = text === last ? stable + 1 : 0;
    if (stable === 10) return read;
    last = text;
  }
}

async function measure(
  name: string,
  start: Start,
  conditions: Conditions,
  postgresPid: () => number,
  isKilling: boolean,
): Promise<Result> {
  const peer = await start(conditions);
  try {
    const cpuOf = () => peer.pids().reduce((sum, pid) => sum + treeCpuMs(pid), 0);
    const before = { own: cpuOf(), postgres: treeCpuMs(postgresPid()), begunMs: performance.now() };
    const { failed } = await makeCalls(peer, isKilling);
    const seconds = (performance.now() - before.begunMs) / 1000;
    const { usd, heldUsd } = await readSettled(peer);
    return {
      name: isKilling ? `${name}, killed ${kills} times` : name,
      answered: conditions.provider.answered(),
      recordedUsd: usd,
      ...(heldUsd !== undefined && { heldUsd }),
      failed,
      seconds,
      // The time of a killed process is not known.
      cpuMs: isKilling ? Number.NaN : (cpuOf() - before.own) / calls,
      postgresCpuMs: isKilling ? Number.NaN : (treeCpuMs(postgresPid()) - before.postgres) / calls,
    };
  } finally {
    await peer.stop();
  }
}

function toLine({ name, answered, recordedUsd, heldUsd, failed, seconds, cpuMs, postgresCpuMs }: Result) {
  const recorded = recordedUsd / usdOf(1);
  return [
    name.padEnd(24),
    `${answered} answered by the model`,
    `${recorded.toFixed(2)} recorded`,
    heldUsd === undefined ? "holds nothing" : `${(heldUsd / usdOf(1)).toFixed(2)} still held`,
    `${failed} failed`,
    `${seconds.toFixed(1)} s`,
    ...(Number.isNaN(cpuMs)
      ? []
      : [`${cpuMs.toFixed(2)} + ${postgresCpuMs.toFixed(2)} ms of CPU a call (own + Postgres)`]),
  ].join("; ");
}

async function main(): Promise<void> {
  const dataDir = makeDataDir();
  const postgres = await startEmbeddedPostgres({ dataDir, log: () => {} });
  try {
    await bootstrapDatabaseAt(postgres.superuserUrl, join(projectRoot, "supabase/bootstrap"));
    await migrate(postgres.adminUrl, join(projectRoot, "supabase/migrations"));
    await postgres.enableServiceLogin();
    const { otari, litellm } = options;
    const peers: [string, Start][] = [["Outlay", (conditions) => startOutlay(postgres, conditions)]];
    if (otari) peers.push(["Otari", (conditions) => startOtari(otari, conditions)]);
    if (litellm) peers.push(["LiteLLM", (conditions) => startLitellm(litellm, conditions)]);
    say(
      `${calls} calls by ${callers} callers at a limit for ${calls / 2}; recorded and held in calls, by their cost`,
    );
    for (const isKilling of [false, true]) {
      for (const [name, start] of peers) {
        if (options.only && options.only !== name.toLowerCase()) continue;
        const provider: Provider = await startProvider();
        const databaseUrl = await createDatabase(postgres.superuserUrl, name, isKilling);
        const conditions = { provider, limitUsd: usdOf(calls / 2), databaseUrl };
        try {
          say(toLine(await measure(name, start, conditions, postgres.pid, isKilling)));
        } finally {
          await provider.close();
        }
      }
    }
  } finally {
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** @returns the address of a new empty database */
async function createDatabase(superuserUrl: string, name: string, isKilling: boolean): Promise<string> {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  const database = `${name.toLowerCase()}_${isKilling ? "killed" : "alone"}`;
  await client.query(`create database ${database}`);
  await client.end();
  return Object.assign(new URL(superuserUrl), { pathname: `/${database}` }).href;
}

await main();
