import { Client } from "pg";
import { describe, expect, test, vi } from "vitest";
import { waitingSessions } from "@/tests/helpers/block";
import { type Answer, apiClient, costMessage } from "@/tests/helpers/client";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

describe("Two processes on the same rows", () => {
  const harness = withSharedHarness({ services: 2 });

  test("Count every message and fail none with many limited keys and new projects in random order", async () => {
    const workspace = await harness.fixtures.workspace();
    const keys = await Promise.all(
      Array.from({ length: 24 }, (_, index) =>
        harness.fixtures.key(workspace, {
          // A third is locked for both its limits, a third for the monthly one alone, a third not at all.
          ...(index % 3 !== 2 && { monthly_limit: "1000" }),
          ...(index % 3 === 0 && { rate_limit_rpm: 10_000 }),
        }),
      ),
    );
    const posts = shuffled(
      keys.flatMap(({ secret }) =>
        Array.from({ length: 60 }, (_, index) => ({ secret, project: `p${index % 40}` })),
      ),
    );
    const answers: Answer[] = [];
    const clients = Array.from({ length: 48 }, async (_, client) => {
      const { baseUrl } = harness.services[client % 2] ?? { baseUrl: "" };
      for (let post = posts.pop(); post; post = posts.pop()) {
        const body = costMessage(
          { feature: `f${answers.length % 7}` },
          {
            project: post.project,
            ...(answers.length % 5 === 0 && { idempotency_key: `${client} ${answers.length}` }),
          },
        );
        answers.push(await apiClient(baseUrl, post.secret).post(body));
      }
    });
    await Promise.all(clients);

    expect(answers.filter(({ status }) => status !== 201)).toEqual([]);
    const { rows } = await harness.fixtures.sql.query(
      `select api_key_id, amount_usd::text, message_count::int from public.key_spend where workspace_id = $1`,
      [workspace],
    );
    expect(rows).toHaveLength(keys.length);
    for (const row of rows) expect(row).toMatchObject({ amount_usd: "0.60", message_count: 60 });
    const { rows: windows } = await harness.fixtures.sql.query(
      `select api_key_id, sum(admitted)::int as admitted, max(total)::int as total from private.rate_windows
       where api_key_id = any ($1) group by 1`,
      [keys.map(({ id }) => id)],
    );
    expect(windows).toHaveLength(8);
    for (const row of windows) expect(row).toMatchObject({ admitted: 60, total: 60 });
    expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
  });

  test("Write a group again once when Postgres ends it as a deadlock's victim", async () => {
    const { id, secret } = await harness.fixtures.key(await harness.fixtures.workspace(), {
      monthly_limit: "1",
    });
    const [service] = harness.services;
    const api = apiClient(service?.baseUrl ?? "", secret);
    expect((await api.post(costMessage())).status).toBe(201);

    const rival = new Client({ connectionString: harness.database.superuserUrl });
    await rival.connect();
    // Only the service's session looks for deadlocks: it is the victim.
    await rival.query("set deadlock_timeout = '1h'; begin");
    await rival.query("select from public.daily_spend where api_key_id = $1 for update", [id]);
    const deadlocks = async () =>
      Number(
        (
          await harness.fixtures.sql.query(
            "select deadlocks from pg_stat_database where datname = current_database()",
          )
        ).rows[0].deadlocks,
      );
    const before = await deadlocks();
    const posted = api.post(costMessage());
    await vi.waitUntil(async () => (await waitingSessions(harness.fixtures.sql, "store_messages")) > 0, {
      timeout: 30_000,
      interval: 10,
    });
    // The service's transaction holds the key's row and waits for the rollup's; now the two wait for each other.
    await rival.query("select from public.api_keys where id = $1 for update", [id]);
    await rival.query("commit");
    await rival.end();

    expect((await posted).status).toBe(201);
    await vi.waitUntil(async () => (await deadlocks()) > before, { timeout: 30_000, interval: 50 });
    const { rows } = await harness.fixtures.sql.query(
      "select count(*)::int as messages from public.messages where api_key_id = $1",
      [id],
    );
    expect(rows).toEqual([{ messages: 2 }]);
    expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
  });
});

function shuffled<T>(items: T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
