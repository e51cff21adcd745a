import { describe, expect, test } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness({ services: 2 });

/** Clients of one key, spread evenly over the processes. */
const clientsOf = (secret: string, count: number) =>
  Array.from({ length: count }, (_, index) => {
    const service = harness.services[index % harness.services.length];
    if (!service) throw new Error("No service runs.");
    return apiClient(service.baseUrl, secret);
  });

describe("The monthly limit", () => {
  test.each(Array.from({ length: 20 }, (_, round) => round + 1))(
    "Lets 64 clients on two processes record exactly 100 cents of a dollar (round %i)",
    async () => {
      const workspace = await harness.fixtures.workspace();
      const { id, secret } = await harness.fixtures.key(workspace, { monthly_limit: "1" });
      const answers = (
        await Promise.all(
          clientsOf(secret, 64).map(async (client) => [
            await client.post(costMessage()),
            await client.post(costMessage()),
          ]),
        )
      ).flat();
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(100);
      const refused = answers.filter(({ status }) => status !== 201);
      expect(refused).toHaveLength(28);
      for (const { status, body } of refused) {
        expect(status).toBe(402);
        expect(body).toMatchObject({ error: "monthly_limit_exceeded", limit_usd: 1, spent_usd: 1 });
      }
      const { rows } = await harness.fixtures.sql.query(
        `select (select sum(amount_usd)::text from public.messages where api_key_id = $1) as recorded,
           (select trim_scale(amount_usd)::text from public.key_spend where api_key_id = $1) as counted`,
        [id],
      );
      expect(rows).toEqual([{ recorded: "1.00", counted: "1" }]);
      expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
    },
  );

  test("Counts by the time of recording, so that backdating cannot evade it", async () => {
    const { secret } = await harness.fixtures.key(await harness.fixtures.workspace(), {
      monthly_limit: "0.01",
    });
    const [client] = clientsOf(secret, 1);
    expect((await client?.post(costMessage({ occurred_at: "2026-01-15T00:00:00Z" })))?.status).toBe(201);
    expect((await client?.post(costMessage({ occurred_at: "2026-01-15T00:00:00Z" })))?.status).toBe(402);
  });

  test("Resets with the UTC month", async () => {
    const { id, secret } = await harness.fixtures.key(await harness.fixtures.workspace(), {
      monthly_limit: "0.01",
    });
    const [client] = clientsOf(secret, 1);
    expect((await client?.post(costMessage()))?.status).toBe(201);
    expect((await client?.post(costMessage()))?.status).toBe(402);
    await harness.fixtures.sql.query(
      "update public.key_spend set month = month - interval '1 month' where api_key_id = $1",
      [id],
    );
    expect((await client?.post(costMessage()))?.status).toBe(201);
    // Restores the dates, for the ledger's other checks.
    await harness.fixtures.sql.query("delete from public.key_spend where api_key_id = $1", [id]);
    await harness.fixtures.sql.query("delete from public.daily_spend where api_key_id = $1", [id]);
    await harness.fixtures.sql.query("delete from public.messages where api_key_id = $1", [id]);
  });

  test("Admits nothing at 0", async () => {
    const { secret } = await harness.fixtures.key(await harness.fixtures.workspace(), { monthly_limit: "0" });
    const [client] = clientsOf(secret, 1);
    expect((await client?.post(costMessage({ estimated_cost: 0 })))?.status).toBe(402);
    expect((await client?.post(costMessage({ estimated_cost: 1e-12 })))?.status).toBe(402);
  });

  test("Refuses unpriced usage and allocations once used up, and still answers retries", async () => {
    const workspace = await harness.fixtures.workspace();
    const { secret } = await harness.fixtures.key(workspace, { monthly_limit: "0.01" });
    const [client] = clientsOf(secret, 1);
    const unpriced = costMessage({ model: "nobody-knows", estimated_cost: undefined });
    expect((await client?.post(unpriced))?.body.cost_status).toBe("unpriced");
    const first = costMessage({}, { idempotency_key: "first" });
    expect((await client?.post(first))?.status).toBe(201);
    const refused = [
      unpriced,
      costMessage({ estimated_cost: 0 }),
      {
        project: "search",
        source: "api",
        message: { type: "allocation", from_project: "checkout", amount: 0.01 },
      },
    ];
    for (const body of refused) {
      expect((await client?.post(body))?.body).toMatchObject({
        error: "monthly_limit_exceeded",
        limit_usd: 0.01,
        spent_usd: 0.01,
      });
    }
    const bulk = await client?.call("POST", "/api/v1/messages/batch", { messages: refused });
    expect(bulk?.body).toMatchObject({ recorded: 0, refused: 3 });
    expect((await client?.post(first))?.headers.get("idempotent-replayed")).toBe("true");
    const { rows } = await harness.fixtures.sql.query(
      "select count(*)::int as stored from public.messages where workspace_id = $1",
      [workspace],
    );
    expect(rows).toEqual([{ stored: 2 }]);
  });

  test("Is not consumed by refusals and dry runs", async () => {
    const { secret } = await harness.fixtures.key(await harness.fixtures.workspace(), {
      monthly_limit: "0.02",
    });
    const [client] = clientsOf(secret, 1);
    expect((await client?.post(costMessage({ quantity: 0 })))?.status).toBe(400);
    const dry = await client?.post(costMessage(), {}, "?dry_run=true");
    expect(dry).toMatchObject({ status: 201, body: { amount_usd: 0.01, dry_run: true } });
    expect((await client?.post(costMessage({ estimated_cost: 0.03 })))?.status).toBe(402);
    expect((await client?.post(costMessage({ estimated_cost: 0.02 })))?.status).toBe(201);
  });
});

describe("Keys and secrets", () => {
  test("Refuses a key revoked in the database on the next request to both processes", async () => {
    const { id, secret } = await harness.fixtures.key(await harness.fixtures.workspace());
    const clients = clientsOf(secret, 2);
    for (const client of clients) expect((await client.post(costMessage())).status).toBe(201);
    await harness.fixtures.sql.query("update public.api_keys set revoked_at = now() where id = $1", [id]);
    for (const client of clients) expect((await client.post(costMessage())).body.error).toBe("key_revoked");
    for (const client of clients)
      expect((await client.get("/api/v1/summary/month")).body.error).toBe("key_revoked");
  });
});
