import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { claimDataFolder, holderOf, lifeOf } from "@/lib/db/embedded/claim.mjs";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "@/lib/db/embedded/server";
import { makeDataDir } from "@/tests/helpers/cluster";
import { bundleScript, type Script, startScript } from "@/tests/helpers/script";

type Ready = { superuserUrl: string; postgresPid: number; reused: boolean };

let program: string;
const cleanUp: (() => unknown)[] = [];

beforeAll(async () => {
  program = await bundleScript("tests/db/fixtures/hold-postgres.ts");
  return () => rmSync(program);
});

afterEach(async () => {
  for (const action of cleanUp.splice(0).reverse()) await action();
});

function dataFolder(): string {
  const folder = makeDataDir();
  cleanUp.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function startHere(dataDir: string): Promise<EmbeddedPostgres & { said: string[] }> {
  const said: string[] = [];
  const server = await startEmbeddedPostgres({ dataDir, log: (message) => said.push(message) });
  cleanUp.push(() => server.stop());
  return { ...server, said };
}

function startThere(dataDir: string, address = "http://127.0.0.1:3999"): Script & { ready: Promise<Ready> } {
  const script = startScript(program, [dataDir, address]);
  cleanUp.push(async () => {
    script.child.kill("SIGTERM");
    await script.ended;
  });
  const ready = script.line((line) => (JSON.parse(line) as { ready?: Ready }).ready);
  ready.catch(() => {});
  return { ...script, ready };
}

async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

/** Every process whose command line names the folder: its server and child processes. */
function processesOn(dataDir: string): string[] {
  return execFileSync("ps", ["-eo", "pid,args"], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.includes(`-D ${dataDir}`));
}

describe("The embedded Postgres", () => {
  test("Starts in an empty folder, keeps committed rows, and leaves no process when stopped", async () => {
    const dataDir = dataFolder();
    const first = await startHere(dataDir);
    expect(first.reused).toBe(false);
    await query(first.adminUrl, "create table kept as select 42 as answer");
    await first.stop();
    expect(lifeOf(first.pid())).toBeUndefined();
    expect(processesOn(dataDir)).toEqual([]);
    expect(holderOf(dataDir)).toBeUndefined();

    const second = await startHere(dataDir);
    expect(second.adminUrl).toBe(first.adminUrl);
    expect(await query(second.adminUrl, "select answer from kept")).toEqual([{ answer: 42 }]);
  });

  test("Runs with durable settings, on loopback only, and requires the password", async () => {
    const dataDir = dataFolder();
    const { superuserUrl } = await startHere(dataDir);
    const settings = [
      "fsync",
      "full_page_writes",
      "synchronous_commit",
      "listen_addresses",
      "data_checksums",
    ];
    const rows = await query(
      superuserUrl,
      `select ${settings.map((name) => `current_setting('${name}') as ${name}`).join(", ")}`,
    );
    expect(rows[0]).toEqual({
      fsync: "on",
      full_page_writes: "on",
      synchronous_commit: "on",
      listen_addresses: "127.0.0.1",
      data_checksums: "on",
    });
    const wrong = new URL(superuserUrl);
    wrong.password = "wrong";
    await expect(query(wrong.href, "select 1")).rejects.toMatchObject({ code: "28P01" });
    expect(statSync(join(dataDir, "postgres.json")).mode & 0o777).toBe(0o600);
  });

  test("Is taken over by the next start when it outlived its killed parent", async () => {
    const dataDir = dataFolder();
    const orphaned = startThere(dataDir);
    const { postgresPid, superuserUrl } = await orphaned.ready;
    await query(superuserUrl, "create table kept as select 42 as answer");
    orphaned.child.kill("SIGKILL");
    await orphaned.ended;
    expect(lifeOf(postgresPid)).toBeDefined();

    const next = await startHere(dataDir);
    expect(next.reused).toBe(true);
    expect(next.pid()).toBe(postgresPid);
    expect(await query(next.superuserUrl, "select answer from kept")).toEqual([{ answer: 42 }]);
    await next.stop();
    expect(lifeOf(postgresPid)).toBeUndefined();
    expect(processesOn(dataDir)).toEqual([]);
  });

  test.each(["started", "taken over"])(
    "Comes back on the same address with every acknowledged row when %s and killed under load",
    async (how) => {
      const dataDir = dataFolder();
      if (how === "taken over") {
        const before = startThere(dataDir);
        await before.ready;
        before.child.kill("SIGKILL");
        await before.ended;
      }
      const server = await startHere(dataDir);
      expect(server.reused).toBe(how === "taken over");
      await query(server.adminUrl, "create table ledger (id int primary key)");
      const acknowledged: number[] = [];
      let next = 0;
      const write = async () => {
        const client = new Client({ connectionString: server.adminUrl });
        client.on("error", () => {});
        await client.connect();
        for (;;) {
          const id = next++;
          await client.query("insert into ledger values ($1)", [id]);
          acknowledged.push(id);
        }
      };
      const writers = Array.from({ length: 4 }, () => write().catch(() => "cut off"));
      await vi.waitFor(() => expect(acknowledged.length).toBeGreaterThan(200), { timeout: 30_000 });
      const killed = server.pid();
      process.kill(killed, "SIGKILL");
      expect(await Promise.all(writers)).toEqual(Array(4).fill("cut off"));

      await vi.waitFor(() => query(server.adminUrl, "select 1"), { timeout: 15_000, interval: 50 });
      const stored = new Set((await query(server.adminUrl, "select id from ledger")).map(({ id }) => id));
      expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
      expect(server.pid()).not.toBe(killed);
    },
  );

  test("Recovers when it and its parent were killed together", async () => {
    const dataDir = dataFolder();
    const script = startThere(dataDir);
    const { postgresPid, superuserUrl } = await script.ready;
    await query(superuserUrl, "create table kept as select 42 as answer");
    script.child.kill("SIGKILL");
    process.kill(postgresPid, "SIGKILL");
    await script.ended;
    const next = await startHere(dataDir);
    expect(next.reused).toBe(false);
    expect(await query(next.superuserUrl, "select answer from kept")).toEqual([{ answer: 42 }]);
  });

  test("Is created again when the first start was killed half way", async () => {
    const dataDir = dataFolder();
    mkdirSync(join(dataDir, "postgres/cluster.new"), { recursive: true });
    chmodSync(join(dataDir, "postgres"), 0o755);
    writeFileSync(join(dataDir, "postgres/cluster.new/PG_VERSION"), "17\n");
    const server = await startHere(dataDir);
    expect(await query(server.adminUrl, "select 1 as one")).toEqual([{ one: 1 }]);
  });

  test("Is not confused with another process that has its old process id", async () => {
    const dataDir = dataFolder();
    const first = await startHere(dataDir);
    const pidFile = join(dataDir, "postgres/cluster/postmaster.pid");
    const lines = readFileSync(pidFile, "utf8").split("\n");
    await first.stop();
    // Our own process id: alive, but not a Postgres.
    writeFileSync(pidFile, [process.pid, ...lines.slice(1)].join("\n"));
    const second = await startHere(dataDir);
    expect(second.reused).toBe(false);
  });

  test("Reports that its passwords were deleted", async () => {
    const dataDir = dataFolder();
    await (await startHere(dataDir)).stop();
    rmSync(join(dataDir, "postgres.json"));
    await expect(startHere(dataDir)).rejects.toThrow(/other passwords than .*postgres\.json/);
    expect(processesOn(dataDir)).toEqual([]);
  });

  test.runIf(process.getuid?.() === 0)(
    "Is kept and found elsewhere when its account cannot enter the data folder",
    async () => {
      const closed = dataFolder();
      chmodSync(closed, 0o700);
      const dataDir = join(closed, "data");
      const first = await startHere(dataDir);
      const { home } = JSON.parse(readFileSync(join(dataDir, "postgres.json"), "utf8"));
      cleanUp.unshift(() => rmSync(home, { recursive: true, force: true }));
      expect(home).toMatch(/^\/var\/lib\/outlay\/[0-9a-f]{16}$/);
      expect(first.said.join("\n")).toContain(home);
      await query(first.adminUrl, "create table kept as select 42 as answer");
      await first.stop();

      const second = await startHere(dataDir);
      expect(await query(second.adminUrl, "select answer from kept")).toEqual([{ answer: 42 }]);
      await second.stop();

      const copy = join(closed, "copy");
      cleanUp.unshift(() => rmSync(`${home}-2`, { recursive: true, force: true }));
      execFileSync("cp", ["-r", dataDir, copy]);
      await expect(startHere(copy)).rejects.toThrow(`is a copy of ${dataDir}`);

      rmSync(dataDir, { recursive: true });
      const anew = await startHere(dataDir);
      expect(await query(anew.adminUrl, "select to_regclass('kept') as kept")).toEqual([{ kept: null }]);
    },
  );
});

describe("A data folder", () => {
  test("Is refused to a second service, which names the first and leaves it running", async () => {
    const dataDir = dataFolder();
    const first = startThere(dataDir, "http://127.0.0.1:3123");
    const { superuserUrl, postgresPid } = await first.ready;
    const second = await startThere(dataDir).ended;
    expect(second.status).toBe(1);
    expect(second.output).toContain("already running");
    expect(second.output).toContain("http://127.0.0.1:3123");
    expect(second.output).toContain(String(first.pid));
    await expect(query(superuserUrl, "select 1 as one")).resolves.toEqual([{ one: 1 }]);
    expect(lifeOf(postgresPid)).toBeDefined();
    expect(readdirSync(join(dataDir, "claims"))).toHaveLength(1);
  });

  test("Goes to at most one of many at once, and to a single one", async () => {
    const dataDir = dataFolder();
    for (let round = 0; round < 5; round += 1) {
      const claims = await Promise.allSettled(Array.from({ length: 6 }, () => claimDataFolder(dataDir)));
      const won = claims.filter((claim) => claim.status === "fulfilled");
      expect(won).toHaveLength(1);
      for (const { value } of won) value.release();
    }
    (await claimDataFolder(dataDir)).release();
  });

  test("Is not held by a dead process, nor by a later one with its id", async () => {
    const dataDir = dataFolder();
    const killed = startThere(dataDir);
    await killed.ready;
    killed.child.kill("SIGKILL");
    await killed.ended;
    writeFileSync(join(dataDir, "claims", `${process.pid}-00000000_1-0badc0de.json`), '{"state":"held"}');
    expect(holderOf(dataDir)).toBeUndefined();
    const next = await startHere(dataDir);
    expect(existsSync(join(dataDir, "claims", `${process.pid}-00000000_1-0badc0de.json`))).toBe(false);
    expect(next.reused).toBe(true);
  });
});
