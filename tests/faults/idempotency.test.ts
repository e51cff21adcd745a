import { request } from "node:http";
import { describe, expect, test, vi } from "vitest";
import { blockWrites } from "@/tests/helpers/block";
import { type Answer, apiClient, costMessage } from "@/tests/helpers/client";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

describe("An idempotency key posted 64 times at once to two processes", () => {
  const harness = withSharedHarness({ services: 2 });
  const rounds = [1, 2, 3];

  const postAll = async (secret: string, body: (index: number) => unknown): Promise<Answer[]> => {
    const clients = harness.services.map(({ baseUrl }) => apiClient(baseUrl, secret));
    return Promise.all(
      Array.from({ length: 64 }, (_, index) => clients[index % 2]?.post(body(index)) as Promise<Answer>),
    );
  };
  const storedIds = async (keyId: string): Promise<string[]> => {
    const { rows } = await harness.fixtures.sql.query(
      "select id from public.messages where api_key_id = $1",
      [keyId],
    );
    return rows.map(({ id }) => id);
  };

  test.each(rounds)("Records one message and answers all with it (round %i)", async () => {
    const { id, secret } = await harness.fixtures.key(await harness.fixtures.workspace());
    const answers = await postAll(secret, () => costMessage({}, { idempotency_key: "once" }));
    const stored = await storedIds(id);
    expect(stored).toHaveLength(1);
    for (const { status, body } of answers)
      expect({ status, id: body.id }).toEqual({ status: 201, id: stored[0] });
    const replayed = answers.filter(({ headers }) => headers.get("idempotent-replayed") === "true");
    expect(replayed).toHaveLength(63);
    expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
  });

  test.each(rounds)("Records one of as many payloads and refuses the others (round %i)", async () => {
    const { id, secret } = await harness.fixtures.key(await harness.fixtures.workspace());
    const answers = await postAll(secret, (index) =>
      costMessage({ label: `payload ${index}` }, { idempotency_key: "once" }),
    );
    const stored = await storedIds(id);
    expect(stored).toHaveLength(1);
    const recorded = answers.filter(({ status }) => status === 201);
    expect(recorded.map(({ body }) => body.id)).toEqual(stored);
    for (const answer of answers.filter((one) => one !== recorded[0]))
      expect(answer).toMatchObject({ status: 409, body: { error: "idempotency_conflict" } });
    expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
  });

  test("Answers at the other process a client that left before its answer", async () => {
    const { id, secret } = await harness.fixtures.key(await harness.fixtures.workspace());
    const [first, second] = harness.services.map(({ baseUrl }) => baseUrl);
    const body = costMessage({}, { idempotency_key: "lost answer" });
    const block = await blockWrites(harness.database.adminUrl);
    const leaving = request(`${first}/api/v1/messages`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    });
    leaving.on("error", () => {});
    leaving.end(JSON.stringify(body));
    await block.holdsUp(1);
    leaving.destroy();
    await block.release();
    await vi.waitUntil(async () => (await storedIds(id)).length > 0, { timeout: 30_000, interval: 10 });
    const retried = await apiClient(second ?? "", secret).post(body);
    expect(retried.status).toBe(201);
    expect(retried.headers.get("idempotent-replayed")).toBe("true");
    expect(await storedIds(id)).toEqual([retried.body.id]);
  });
});
