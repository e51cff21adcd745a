import { describe, expect, onTestFinished, test } from "vitest";
import { blockWrites } from "@/tests/helpers/block";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

describe("A group of messages", () => {
  const harness = withSharedHarness();

  test("Answers 500 without internals for the one the database refuses, and 201 for the others", async () => {
    // A message that passes every check but is refused by the database, which no client can send.
    await harness.fixtures.sql.query(
      "alter table public.messages add constraint no_poison check (label is distinct from 'poison')",
    );
    onTestFinished(
      async () =>
        void (await harness.fixtures.sql.query("alter table public.messages drop constraint no_poison")),
    );
    const { id, secret } = await harness.fixtures.key(await harness.fixtures.workspace(), {
      monthly_limit: "1",
    });
    const client = apiClient(harness.services[0]?.baseUrl ?? "", secret);
    await client.post(costMessage());
    const block = await blockWrites(harness.database.adminUrl);
    // The first one waits for the lock with the key's row in hand, the second for that row; the rest are one group.
    const first = client.post(costMessage());
    await block.holdsUp(1);
    const early = [first, client.post(costMessage())];
    await block.holdsUp(2);
    const labels = Array.from({ length: 20 }, (_, index) => (index === 7 ? "poison" : `sound ${index}`));
    const posts = labels.map((label) => client.post(costMessage({ label })));
    await apiClient(harness.services[0]?.baseUrl ?? "", null).get("/api/health");
    await block.release();

    expect((await Promise.all(early)).map(({ status }) => status)).toEqual([201, 201]);
    const answers = await Promise.all(posts);
    expect(answers.map(({ status }) => status)).toEqual(
      labels.map((label) => (label === "poison" ? 500 : 201)),
    );
    const failed = answers[7]?.body;
    expect(failed).toEqual({
      error: "internal_error",
      error_description: expect.any(String),
      request_id: expect.stringMatching(/^req_/),
    });
    expect(JSON.stringify(failed)).not.toMatch(/poison|constraint|relation|messages_|violates/i);
    const { rows } = await harness.fixtures.sql.query(
      "select count(*)::int as messages from public.messages where api_key_id = $1",
      [id],
    );
    expect(rows).toEqual([{ messages: 22 }]);
    expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
  });
});

describe("A full queue", () => {
  const harness = withSharedHarness();

  test("Answers 503 with Retry-After at once, records all it accepted, and recovers", {
    timeout: 60_000,
  }, async () => {
    const { id, secret } = await harness.fixtures.key(await harness.fixtures.workspace());
    const client = apiClient(harness.services[0]?.baseUrl ?? "", secret);
    await client.post(costMessage());
    const block = await blockWrites(harness.database.adminUrl);
    const messages = Array.from({ length: 1_000 }, () => costMessage());
    // More than the queue and the groups in flight hold together.
    const calls = Array.from({ length: 26 }, () =>
      client.call("POST", "/api/v1/messages/batch", { messages }),
    );
    const overflow = await Promise.race(calls);
    expect(overflow).toMatchObject({ status: 503, body: { error: "unavailable" } });
    expect(Number(overflow.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await client.get("/api/v1/summary/month")).status, "reads go on").toBe(200);

    await block.release();
    const answers = await Promise.all(calls);
    const taken = answers.filter(({ status }) => status !== 503);
    expect(taken.length).toBeGreaterThanOrEqual(20);
    for (const { status } of taken) expect(status).toBe(207);
    expect((await client.post(costMessage())).status).toBe(201);
    const { rows } = await harness.fixtures.sql.query(
      "select count(*)::int as messages from public.messages where api_key_id = $1",
      [id],
    );
    expect(rows).toEqual([{ messages: taken.length * 1_000 + 2 }]);
    expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
  });
});
