import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fillDisk } from "@/tests/helpers/block";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { makeDataDir } from "@/tests/helpers/cluster";
import { ledgerDifferences, withHarness } from "@/tests/helpers/harness";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const writable = { database_readable: "ok", database_writable: "ok" };
const full = { database_readable: "ok", database_writable: "failing" };

/** What a service answers to a message and to its health. */
async function state(baseUrl: string, secret: string) {
  const [message, read, health] = await Promise.all([
    apiClient(baseUrl, secret).post(costMessage({ label: "x".repeat(100) })),
    apiClient(baseUrl, secret).get("/api/v1/budgets/status"),
    apiClient(baseUrl, null).get("/api/health"),
  ]);
  return { message, read, health };
}

describe("A write without room on the database's disk", () => {
  const harness = withSharedHarness();

  test("Gets 503 with Retry-After and no internals, and health reports it until a write succeeds", async () => {
    const { secret } = await harness.fixtures.key(await harness.fixtures.workspace());
    const baseUrl = harness.services[0]?.baseUrl ?? "";
    expect((await apiClient(baseUrl, secret).post(costMessage())).status).toBe(201);
    const makeRoom = await fillDisk(harness.fixtures.sql);
    const refused = await apiClient(baseUrl, secret).post(costMessage());
    expect([refused.status, refused.body.error]).toEqual([503, "unavailable"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(String(refused.body.error_description)).toMatch(/^Nothing can be stored/);
    expect(JSON.stringify(refused.body)).not.toMatch(/extend|base\/5|53100|device/);
    const health = () => apiClient(baseUrl, null).get("/api/health");
    await expect.poll(async () => (await health()).body.checks, { timeout: 30_000 }).toEqual(full);
    expect((await health()).status).toBe(503);

    await makeRoom();
    expect((await apiClient(baseUrl, secret).post(costMessage())).status).toBe(201);
    await expect.poll(async () => (await health()).body.checks, { timeout: 30_000 }).toEqual(writable);
    expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
  });
});

/** Mounting a file system of a size of its own takes root. */
describe.runIf(process.platform === "linux" && process.getuid?.() === 0)("A full disk", () => {
  const harness = withHarness({ services: 0, settings: { LOG_LEVEL: "silent" } });
  const disk = join(makeDataDir(), "disk");
  const ballast = join(disk, "ballast");

  beforeAll(async () => {
    mkdirSync(disk);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=48m", "tmpfs", disk]);
    const name = new URL(harness.database.url).pathname.slice(1);
    await asSuperuser(async (client) => {
      const { rows } = await client.query("select current_setting('data_directory') as folder");
      const { uid, gid } = statSync(rows[0].folder);
      const space = join(disk, "space");
      mkdirSync(space);
      chownSync(space, uid, gid);
      chmodSync(space, 0o700);
      await client.query(`create tablespace small location '${space}'`);
      await client.query(`alter database ${name} set tablespace small`);
    });
  });

  afterAll(async () => {
    rmSync(ballast, { force: true });
    await Promise.all(harness.services.splice(0).map((service) => service.stop()));
    // Its sessions end first: the tablespace goes with the database, which harness would drop after this.
    await harness.fixtures.close();
    harness.fixtures.close = async () => {};
    await harness.database.drop();
    await asSuperuser((client) => client.query("drop tablespace small"));
    execFileSync("umount", [disk]);
    rmSync(dirname(disk), { recursive: true, force: true });
  });

  async function asSuperuser(run: (client: Client) => Promise<unknown>): Promise<void> {
    const url = new URL(harness.database.superuserUrl);
    url.pathname = "/postgres";
    const client = new Client({ connectionString: url.href });
    await client.connect();
    await run(client).finally(() => client.end());
  }

  test("Is noticed by health without a write, refused with 503, and recovered from", async () => {
    const { fixtures } = harness;
    const { secret } = await fixtures.key(await fixtures.workspace());
    const { baseUrl } = await harness.start();
    const before = await state(baseUrl, secret);
    expect([before.message.status, before.read.status, before.health.status]).toEqual([201, 200, 200]);

    fill();
    const health = () => apiClient(baseUrl, null).get("/api/health");
    await expect.poll(async () => (await health()).body.checks, { timeout: 30_000 }).toEqual(full);
    const refusals: number[] = [];
    for (let posts = 0; posts < 2_000 && refusals.length < 20; posts += 1) {
      const { status, body, headers } = await apiClient(baseUrl, secret).post(
        costMessage({ label: "x".repeat(100) }),
      );
      if (status === 201) continue;
      expect([status, body.error]).toEqual([503, "unavailable"]);
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
      refusals.push(status);
    }
    expect(refusals.length, "the disk was full").toBe(20);
    expect((await apiClient(baseUrl, secret).get("/api/v1/summary/month")).status, "reads go on").toBe(200);

    rmSync(ballast);
    await expect
      .poll(async () => (await apiClient(baseUrl, secret).post(costMessage())).status, { timeout: 30_000 })
      .toBe(201);
    await expect.poll(async () => (await health()).body.checks, { timeout: 30_000 }).toEqual(writable);
    expect(await ledgerDifferences(fixtures)).toEqual([]);
  });

  /** Writes until there is no room left. */
  function fill(): void {
    for (let size = 1 << 20; size >= 1 << 12; size /= 2) {
      try {
        for (;;) writeFileSync(ballast, Buffer.alloc(size), { flag: "a" });
      } catch {
        // No room for a piece of this size.
      }
    }
  }
});
