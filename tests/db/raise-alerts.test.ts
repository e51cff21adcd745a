import { randomUUID } from "node:crypto";
import pg from "pg";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { waitingSessions } from "@/tests/helpers/block";
import type { TestDatabase } from "@/tests/helpers/database";
import type { Fixtures } from "@/tests/helpers/keys";
import { withDatabase } from "@/tests/helpers/with-database";

// What is recorded and queued where a threshold is crossed: private.raise_alerts, in whatever transaction calls it.

let database: TestDatabase;
let fixtures: Fixtures;
let service: pg.Client;
let workspace: string;

withDatabase((open) => {
  ({ database, fixtures, service } = open);
});

beforeEach(async () => {
  workspace = await fixtures.workspace();
});

const crossing = (more: Record<string, unknown> = {}) => ({
  workspace_id: workspace,
  rule: "budget_threshold",
  subject_type: "budget",
  subject_id: "b1",
  period: "2026-11-01",
  level: "80",
  is_quiet: false,
  details: { budget: "Everything", percent: "80", spent_usd: "80.01" },
  ...more,
});
const raise = (raised: unknown[], client: pg.Client = service) =>
  client.query("select private.raise_alerts($1)", [JSON.stringify(raised)]);

async function channel(columns: Record<string, unknown> = {}): Promise<string> {
  const given = Object.entries({
    workspace_id: workspace,
    name: "Ours",
    kind: "webhook",
    target: "example.com",
    ...columns,
  });
  const { rows } = await fixtures.sql.query(
    `insert into public.alert_channels (${given.map(([name]) => name)})
     values (${given.map((_, index) => `$${index + 1}`)}) returning id`,
    given.map(([, value]) => value),
  );
  return rows[0].id;
}

/**
 * Raises an alert while another transaction has run a statement. Commits that transaction once the alert waits for its lock, and
 * resolves when the alert is raised.
 */
async function whileBlockedBy(statement: string, values: unknown[]): Promise<void> {
  const other = new pg.Client({ connectionString: database.adminUrl });
  await other.connect();
  try {
    await other.query("begin");
    await other.query(statement, values);
    const raised = raise([crossing()]);
    await vi.waitUntil(async () => (await waitingSessions(fixtures.sql)) > 0, {
      timeout: 30_000,
      interval: 10,
    });
    await other.query("commit");
    await raised;
  } finally {
    await other.end();
  }
}

const alerts = async () =>
  (
    await fixtures.sql.query("select * from public.alerts where workspace_id = $1 order by number", [
      workspace,
    ])
  ).rows;
const deliveries = async (channelId: string) =>
  (
    await fixtures.sql.query(
      `select a.level, a.period::text, d.state from public.deliveries as d
       join public.alerts as a on a.id = d.alert_id where d.channel_id = $1 order by d.number`,
      [channelId],
    )
  ).rows.map(({ level, period, state }) => `${period} ${level} ${state}`);

describe("An alert", () => {
  test("Is recorded and queued once for a rule, subject, period and level, whoever tells it again", async () => {
    const id = await channel();
    await raise([crossing(), crossing()]);
    await raise([crossing({ details: { spent_usd: "99" } })]);
    await raise([crossing({ period: "2026-12-01" })]);
    expect(await alerts()).toHaveLength(2);
    expect((await alerts())[0]).toMatchObject({
      level: "80",
      is_quiet: false,
      details: { spent_usd: "80.01" },
    });
    expect(await deliveries(id)).toEqual(["2026-11-01 80 pending", "2026-12-01 80 pending"]);
  });

  test("Is recorded once by transactions that cross at the same time", async () => {
    const id = await channel();
    await whileBlockedBy("select private.raise_alerts($1)", [JSON.stringify([crossing()])]);
    expect(await deliveries(id)).toEqual(["2026-11-01 80 pending"]);
  });

  test("Is not there where the transaction that crossed was rolled back", async () => {
    await channel();
    await service.query("begin");
    await raise([crossing()]);
    await service.query("rollback");
    expect(await alerts()).toEqual([]);
  });

  test("Is queued in the order in which it was told", async () => {
    const id = await channel();
    await raise(["50", "80", "100"].map((level) => crossing({ level })));
    expect(await deliveries(id)).toEqual(["50", "80", "100"].map((level) => `2026-11-01 ${level} pending`));
  });

  test("Is recorded without being sent where it is quiet", async () => {
    const id = await channel();
    await raise([crossing({ is_quiet: true })]);
    await raise([crossing()]);
    expect(await alerts()).toMatchObject([{ is_quiet: true }]);
    expect(await deliveries(id)).toEqual([]);
  });

  test("Is queued for the channels that want it and for no others", async () => {
    const off = { disabled_at: new Date() };
    const wanting = [
      await channel({ rules: ["budget_threshold"] }),
      await channel({ least_percent: 80 }),
      await channel({ ...off, disabled_reason: "failing" }),
    ];
    const others = [
      await channel({ rules: ["key_expiry"] }),
      await channel({ least_percent: 81 }),
      await channel({ ...off, disabled_reason: "by_admin" }),
      await channel({ ...off, disabled_reason: "gone" }),
      await channel({ workspace_id: await fixtures.workspace() }),
    ];
    await raise([crossing()]);
    for (const id of wanting) expect(await deliveries(id)).toEqual(["2026-11-01 80 pending"]);
    for (const id of others) expect(await deliveries(id)).toEqual([]);
  });

  test("Does not fail its transaction where its channel is deleted at the same time", async () => {
    const id = await channel();
    const kept = await channel();
    await whileBlockedBy("delete from public.alert_channels where id = $1", [id]);
    expect(await deliveries(kept)).toEqual(["2026-11-01 80 pending"]);
    expect(await deliveries(id)).toEqual([]);
  });

  test("Does not fail its transaction where its workspace is gone", async () => {
    await raise([crossing({ workspace_id: randomUUID() }), crossing()]);
    expect(await alerts()).toHaveLength(1);
  });
});
