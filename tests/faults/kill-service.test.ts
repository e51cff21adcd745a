import { beforeAll, describe, expect, test } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { ledgerDifferences, withHarness } from "@/tests/helpers/harness";
import { brokenPromises, Load } from "@/tests/helpers/load";
import type { Service } from "@/tests/helpers/service";

const rounds = [1, 2, 3, 4];

describe("kill -9 of the service under load", () => {
  const harness = withHarness();
  let secret: string;
  let current: Service;
  let retrying: Load;
  const baseUrl = () => current.baseUrl;

  beforeAll(async () => {
    secret = (await harness.fixtures.key(await harness.fixtures.workspace(), { monthly_limit: "1000000" }))
      .secret;
    const [first] = harness.services;
    if (!first) throw new Error("No service runs.");
    current = first;
    retrying = new Load({ clients: 8, secret, baseUrl, retry: "until-stored" });
    return () => retrying.stop();
  });

  test.each(rounds)("Loses nothing acknowledged and counts nothing twice (kill %i)", async () => {
    // The next process starts at once, as behind a load balancer.
    const next = await harness.start();
    const load = new Load({ clients: 24, secret, baseUrl, retry: "never" });
    await load.storesMore(100);
    await current.kill();
    current = next;
    await load.stop();
    expect(await brokenPromises(harness.fixtures, load)).toEqual([]);
    expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
  });

  test("Counts a retried message once, under the acknowledged id", async () => {
    await retrying.stop();
    const tries = retrying.posted.length;
    expect(tries, "some posts were cut off by the kills").toBeGreaterThan(retrying.stored.length);
    expect(await brokenPromises(harness.fixtures, retrying)).toEqual([]);
    const cutOff = new Set(retrying.posted.filter(({ answer }) => !answer).map(({ label }) => label));
    const again = retrying.stored
      .filter(({ label }) => cutOff.has(label))
      .map(async ({ label, answer }) => {
        const body = costMessage({ label }, { idempotency_key: label });
        expect(await apiClient(baseUrl(), secret).post(body)).toMatchObject({
          status: 201,
          body: { id: answer.body.id },
        });
      });
    await Promise.all(again);
    expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
  });
});
