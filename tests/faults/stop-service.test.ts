import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import { lifeOf } from "@/lib/db/embedded/claim.mjs";
import { startEmbeddedPostgres } from "@/lib/db/embedded/server";
import { blockWrites } from "@/tests/helpers/block";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { makeDataDir } from "@/tests/helpers/cluster";
import { startEmbeddedService } from "@/tests/helpers/embedded-service";
import { ledgerDifferences, withHarness } from "@/tests/helpers/harness";
import { brokenPromises, Load, recordedUnanswered } from "@/tests/helpers/load";
import { supervised } from "@/tests/helpers/service";
import { workerPids } from "@/tests/helpers/workers";

describe("SIGTERM under load", () => {
  const harness = withHarness({ services: 0 });
  const makeKey = async () => (await harness.fixtures.key(await harness.fixtures.workspace())).secret;

  test.each([1, 2])(
    "Answers what it accepted, records nothing unanswered, and exits with 0 (stop %i)",
    async () => {
      const service = await harness.start();
      const load = new Load({
        clients: 32,
        secret: await makeKey(),
        baseUrl: () => service.baseUrl,
        retry: "never",
      });
      await load.storesMore(300);
      const stoppedAt = performance.now();
      expect(await service.stop()).toBe(0);
      // Clients that keep their connections must not keep the service alive: Node gives an idle one 5 s.
      expect(performance.now() - stoppedAt).toBeLessThan(5_000);
      await load.stop();

      expect(load.posted.filter(({ answer }) => answer && answer.status !== 201)).toEqual([]);
      expect(await brokenPromises(harness.fixtures, load)).toEqual([]);
      expect(
        await recordedUnanswered(harness.fixtures, load),
        "recorded, but cut off before the answer",
      ).toEqual([]);
      expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
    },
  );

  test("Waits for a slow database, and records and answers what is queued", async () => {
    const service = await harness.start();
    const client = apiClient(service.baseUrl, await makeKey());
    await client.post(costMessage());
    const block = await blockWrites(harness.database.adminUrl);
    const queued = (index: number) => client.post(costMessage({ label: `queued ${index}` }));
    // Sent before the others, so that both writers wait: posts that arrive together are written by one.
    const first = queued(0);
    await block.holdsUp(1);
    const posts = [first, ...Array.from({ length: 99 }, (_, index) => queued(index + 1))];
    await block.holdsUp(2);
    // On a connection of its own: once this is answered, the posts sent before it have arrived.
    await apiClient(service.baseUrl, null).get("/api/health");
    const stopped = service.stop();
    await vi.waitFor(
      () => expect(apiClient(service.baseUrl, null).get("/api/health")).rejects.toThrow("was not answered"),
      { timeout: 30_000, interval: 20 },
    );
    await block.release();
    const answers = await Promise.all(posts);
    expect(answers.map(({ status }) => status)).toEqual(Array(100).fill(201));
    expect(await stopped).toBe(0);
    const { rows } = await harness.fixtures.sql.query(
      "select count(distinct id)::int as stored, count(*)::int as rows from public.messages where label like 'queued %'",
    );
    expect(rows).toEqual([{ stored: 100, rows: 100 }]);
  });
});

describe("A process whose event loop stands", () => {
  const isAlive = (pid: number) => lifeOf(pid) !== undefined;

  describe("with a supervisor", () => {
    const harness = withHarness({ services: 0, settings: supervised });

    test("Is killed and started again at the same address", async () => {
      const service = await harness.start();
      const { secret } = await harness.fixtures.key(await harness.fixtures.workspace());
      const client = apiClient(service.baseUrl, secret);
      const [stuck = 0] = workerPids(service);
      process.kill(stuck, "SIGSTOP");
      await expect.poll(() => isAlive(stuck), { timeout: 20_000 }).toBe(false);
      const post = () => client.post(costMessage()).catch(() => undefined);
      await expect.poll(async () => (await post())?.status, { timeout: 20_000 }).toBe(201);
    });
  });

  test("Ends within five seconds of SIGTERM, also where nobody reads its output; its Postgres is stopped, and a copy of its folder starts", async () => {
    const embedded = await startEmbeddedService({ OUTLAY_STALL_SECONDS: "60" });
    const { service } = embedded;
    const copy = makeDataDir();
    try {
      const postmaster = embedded.postmaster();
      const [stuck = 0] = workerPids(service).filter((pid) => pid !== postmaster);
      process.kill(stuck, "SIGSTOP");
      service.process.stdout?.destroy();
      service.process.stderr?.destroy();
      const sinceMs = performance.now();
      await service.stop();
      expect([stuck, postmaster].filter(isAlive)).toEqual([]);
      // Five, and two for a machine that is busy with other tests.
      expect(performance.now() - sinceMs).toBeLessThan(7_000);
      // A crash, such as an EPIPE, is not what ended it.
      expect(service.process.signalCode).toBeNull();
      execFileSync("cp", ["-a", `${embedded.dataDir}/.`, copy]);
      await (await startEmbeddedPostgres({ dataDir: copy, log: () => {} })).stop();
    } finally {
      await embedded.stop();
      rmSync(copy, { recursive: true, force: true });
    }
  }, 240_000);
});
