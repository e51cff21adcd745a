import { expect, test } from "vitest";
import { blockWrites, waitingSessions } from "@/tests/helpers/block";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness({ services: 2 });

/** A workspace with a client on each process. */
async function newWorkspace() {
  const workspace = await harness.fixtures.workspace();
  const { secret } = await harness.fixtures.key(workspace);
  const clients = harness.services.map(({ baseUrl }) => apiClient(baseUrl, secret));
  const [client] = clients;
  if (!client) throw new Error("No service runs.");
  return { workspace, client, clients };
}

const inHouse = (quantity: number, more: Record<string, unknown> = {}) =>
  costMessage({
    provider: "In-House",
    model: "ranker",
    unit_type: "requests",
    quantity,
    estimated_cost: undefined,
    ...more,
  });

/** Sets a price as the dashboard does, and starts the correction it asks for. */
async function setPrice(workspace: string, rate: string, startsAt = "2026-01-01") {
  await harness.fixtures.sql.query(
    "insert into public.prices (workspace_id, provider, model, unit_type, rate, starts_at) values ($1, 'in-house', 'ranker', 'requests', $2, $3)",
    [workspace, rate, startsAt],
  );
  const { rows } = await harness.fixtures.sql.query(
    "insert into public.repricings (workspace_id, provider, from_at) values ($1, 'in-house', $2) returning id",
    [workspace, startsAt],
  );
  return rows[0].id as string;
}

const finished = (id: string) =>
  expect
    .poll(
      async () =>
        (await harness.fixtures.sql.query("select status from public.repricings where id = $1", [id])).rows[0]
          .status,
      { timeout: 20_000 },
    )
    .toBe("done");

test("Prices the next message on every process by a new price", async () => {
  const { workspace, clients } = await newWorkspace();
  for (const client of clients) expect((await client.post(inHouse(10))).body.cost_status).toBe("unpriced");
  for (const [index, rate] of ["0.5", "0.25", "0.125"].entries()) {
    await setPrice(workspace, rate, `2026-02-0${index + 1}`);
    for (const client of clients) {
      expect((await client.post(inHouse(10))).body).toMatchObject({
        amount_usd: 10 * Number(rate),
        cost_status: "priced",
      });
    }
  }
});

/** Waits until one session waits for a lock with a statement that contains this text. */
const waits = (statement: string) =>
  expect.poll(() => waitingSessions(harness.fixtures.sql, statement), { timeout: 30_000 }).toBe(1);

test("Stores a price after the messages admitted without it, so that the correction finds them", async () => {
  const { workspace, client } = await newWorkspace();
  expect((await client.post(inHouse(1))).body.cost_status).toBe("unpriced");
  const block = await blockWrites(harness.database.adminUrl);
  try {
    // Admitted and priced, and held up before it is written.
    const posted = client.post(inHouse(10));
    await waits("store_messages");
    const set = setPrice(workspace, "0.5");
    await waits("prices");
    await block.release();
    expect((await posted).body.cost_status).toBe("unpriced");
    await finished(await set);
  } finally {
    await block.release();
  }
  const { body } = await client.get("/api/v1/summary/month");
  expect(body).toMatchObject({ total_usd: 5.5, unpriced_count: 0 });
});

test("Prices a message that waited for a new price at that price", async () => {
  const { workspace, client } = await newWorkspace();
  await client.post(inHouse(1));
  const setting = await harness.fixtures.sql.connect();
  try {
    await setting.query("begin");
    await setting.query(
      "insert into public.prices (workspace_id, provider, model, unit_type, rate, starts_at) values ($1, 'in-house', 'ranker', 'requests', 0.5, '2026-01-01')",
      [workspace],
    );
    const posted = client.post(inHouse(10));
    await waits("load_admission");
    await setting.query("commit");
    expect((await posted).body).toMatchObject({ amount_usd: 5, cost_status: "priced" });
  } finally {
    setting.release(true);
  }
});

test("Prices what was unpriced with all its sums, and audits it", async () => {
  const { workspace, client } = await newWorkspace();
  await client.post(inHouse(10));
  await client.post(inHouse(3, { occurred_at: "2026-03-01T00:00:00Z" }));
  await client.post(inHouse(4, { occurred_at: "2025-12-31T23:59:59Z" }));
  await client.post(inHouse(5, { estimated_cost: 1 }));
  await client.post(costMessage({ model: "gpt-4o", quantity: 1_000_000, estimated_cost: undefined }));
  const items = [
    { model: "ranker", unit_type: "requests", quantity: 7, feature: "chat" },
    { model: "other", unit_type: "requests", quantity: 7 },
  ];
  await client.post(
    costMessage({
      type: "batch",
      provider: "in-house",
      batch_id: "b",
      items,
      model: undefined,
      unit_type: undefined,
      quantity: undefined,
      estimated_cost: undefined,
    }),
  );
  await harness.fixtures.sql.query(
    "insert into public.budgets (workspace_id, name, amount, scope_type) values ($1, 'all', 100, 'global')",
    [workspace],
  );
  const before = (await client.get("/api/v1/summary/month")).body;
  expect(before).toMatchObject({ total_usd: 3.5, unpriced_count: 3 });
  const id = await setPrice(workspace, "0.5");
  await finished(id);
  expect((await client.get("/api/v1/summary/month")).body).toMatchObject({
    total_usd: 12,
    unpriced_count: 1,
  });
  expect((await client.get("/api/v1/budgets/status")).body.budgets).toMatchObject([{ spent: 12 }]);
  const { body: march } = await client.get(
    "/api/v1/projects/checkout/spend?from=2026-03-01T00:00:00Z&to=2026-03-02T00:00:00Z",
  );
  expect(march).toMatchObject({ total_usd: 1.5, unpriced_count: 0 });
  const { body: before2026 } = await client.get(
    "/api/v1/projects/checkout/spend?from=2025-12-01T00:00:00Z&to=2026-01-01T00:00:00Z",
  );
  expect(before2026).toMatchObject({ total_usd: 0, unpriced_count: 1 });
  const { rows } = await harness.fixtures.sql.query(
    "select action, after from public.audit_log where workspace_id = $1 and action like 'messages.%'",
    [workspace],
  );
  expect(rows).toEqual([
    {
      action: "messages.repriced",
      after: expect.objectContaining({ examined: 3, changed: 3, change_usd: 10 }),
    },
  ]);
  expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
});

test("Corrects the list price of included usage as it would an amount, and never what it costs", async () => {
  const { workspace, client } = await newWorkspace();
  const covered = (quantity: number, more = {}) =>
    client.post(inHouse(quantity, { included: true, user: "anna", tags: { team: "growth" }, ...more }));
  expect((await covered(10)).body).toMatchObject({ cost_status: "included", list_price_usd: null });
  await covered(1, { estimated_cost: 7 });
  const amounts = async () => {
    const { rows } = await harness.fixtures.sql.query(
      `select amount_usd::float as amount, list_price_usd::float as list_price, cost_status as status
       from public.messages where workspace_id = $1 order by list_price_usd`,
      [workspace],
    );
    return rows.map(({ amount, list_price, status }) => [amount, list_price, status]);
  };
  await finished(await setPrice(workspace, "0.5"));
  const ofClient = [0, 7, "included"];
  expect(await amounts()).toEqual([[0, 5, "included"], ofClient]);
  await harness.fixtures.sql.query("update public.prices set rate = 0.25 where workspace_id = $1", [
    workspace,
  ]);
  const { rows } = await harness.fixtures.sql.query(
    `insert into public.repricings (workspace_id, provider, from_at, includes_priced)
     values ($1, 'in-house', '2026-01-01', true) returning id, change_usd`,
    [workspace],
  );
  await finished(rows[0].id);
  expect(await amounts()).toEqual([[0, 2.5, "included"], ofClient]);
  const { body } = await client.get("/api/v1/summary/month");
  expect(body).toMatchObject({ total_usd: 0, included_usd: 9.5, unpriced_count: 0 });
  expect(await ledgerDifferences(harness.fixtures, workspace)).toEqual([]);
});

test("Keeps earlier prices unless a past range is requested, and a client's own figure always", async () => {
  const { workspace, client } = await newWorkspace();
  await setPrice(workspace, "1");
  await client.post(inHouse(10, { occurred_at: "2026-05-01T00:00:00Z" }));
  await client.post(inHouse(10, { occurred_at: "2026-07-01T00:00:00Z" }));
  await client.post(inHouse(10, { occurred_at: "2026-07-01T00:00:00Z", estimated_cost: 3 }));
  const year = "/api/v1/projects/checkout/spend?from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z";
  await finished(await setPrice(workspace, "2", "2026-04-01"));
  expect((await client.get(year)).body.total_usd).toBe(23);
  const { rows } = await harness.fixtures.sql.query(
    "insert into public.repricings (workspace_id, provider, from_at, includes_priced) values ($1, 'in-house', '2026-06-01', true) returning id",
    [workspace],
  );
  await finished(rows[0].id);
  expect((await client.get(year)).body.total_usd).toBe(33);
  expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
});

test("Corrects thousands of messages while as many are recorded, and misses none", {
  timeout: 60_000,
}, async () => {
  const { workspace, clients } = await newWorkspace();
  const post = (client: (typeof clients)[number]) =>
    client.call("POST", "/api/v1/messages/batch", {
      messages: Array.from({ length: 250 }, () => inHouse(1)),
    });
  for (let round = 0; round < 4; round += 1) await Promise.all(clients.map(post));
  const [, , id] = await Promise.all([
    ...clients.map(async (client) => {
      for (let round = 0; round < 4; round += 1) await post(client);
    }),
    setPrice(workspace, "0.001"),
  ]);
  await finished(id as string);
  const [client] = clients;
  expect((await client?.get("/api/v1/summary/month"))?.body).toMatchObject({
    total_usd: 4,
    message_count: 4000,
    unpriced_count: 0,
  });
  expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
});
