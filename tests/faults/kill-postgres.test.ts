import { beforeAll, describe, expect, test, vi } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { type EmbeddedService, startEmbeddedService } from "@/tests/helpers/embedded-service";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { brokenPromises, Load } from "@/tests/helpers/load";

/** Every second kill ends its children too. */
const rounds = [1, 2, 3, 4];

describe("kill -9 of Postgres under load", () => {
  let embedded: EmbeddedService;
  let secret: string;
  let retrying: Load;
  const baseUrl = () => embedded.service.baseUrl;

  beforeAll(async () => {
    embedded = await startEmbeddedService();
    const { fixtures } = embedded;
    secret = (await fixtures.key(await fixtures.workspace(), { monthly_limit: "1000000" })).secret;
    retrying = new Load({ clients: 8, secret, baseUrl, retry: "until-stored" });
    return async () => {
      await retrying.stop();
      await embedded.stop();
    };
  });

  test.each(rounds)(
    "Answers 503 until it is back, recovers, and keeps what was acknowledged (kill %i)",
    async (round) => {
      const load = new Load({ clients: 24, secret, baseUrl, retry: "never" });
      await load.storesMore(60);
      embedded.killPostgres({ children: round % 2 === 0 });
      await vi.waitUntil(() => refusals(load).length > 0, { timeout: 30_000, interval: 5 });
      const read = await apiClient(baseUrl(), secret).get("/api/v1/summary/month");
      await load.storesMore(60);
      await load.stop();

      expect([200, 503]).toContain(read.status);
      for (const { answer } of refusals(load)) {
        expect(answer).toMatchObject({ status: 503, body: { error: "unavailable" } });
        expect(Number(answer?.headers.get("retry-after"))).toBeGreaterThan(0);
        expect(JSON.stringify(answer?.body)).not.toMatch(/ECONN|terminat|postgres|pg_|SQLSTATE/i);
      }
      expect(await brokenPromises(embedded.fixtures, load)).toEqual([]);
      expect(await ledgerDifferences(embedded.fixtures)).toEqual([]);
    },
  );

  test("Counts a retried message once, under the acknowledged id", async () => {
    await retrying.stop();
    expect(retrying.posted.length, "some posts were refused").toBeGreaterThan(retrying.stored.length);
    expect(await brokenPromises(embedded.fixtures, retrying)).toEqual([]);
    const refused = new Set(refusals(retrying).map(({ label }) => label));
    const again = retrying.stored
      .filter(({ label }) => refused.has(label))
      .map(async ({ label, answer }) => {
        const body = costMessage({ label }, { idempotency_key: label });
        expect(await apiClient(baseUrl(), secret).post(body)).toMatchObject({
          status: 201,
          body: { id: answer.body.id },
        });
      });
    await Promise.all(again);
    expect(await ledgerDifferences(embedded.fixtures)).toEqual([]);
  });
});

const refusals = (load: Load) => load.posted.filter(({ answer }) => answer?.status !== 201);
