import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { TestDatabase } from "@/tests/helpers/database";
import type { Fixtures, KeyOptions } from "@/tests/helpers/keys";
import { withDatabase } from "@/tests/helpers/with-database";

// The rules about keys, sources and usage, judged at moments that the test chooses: each fires, ends, and is told once.

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
afterEach(async () => {
  await fixtures.sql.query("delete from public.workspaces where id = $1", [workspace]);
});

const now = "2026-11-18T12:00:00Z";
const later = (hours: number, from = now) => new Date(Date.parse(from) + hours * 3_600_000).toISOString();
async function judge(at: string, client: pg.Client = service): Promise<void> {
  await client.query("select private.judge_key_rules($1)", [at]);
  await client.query("select private.judge_usage_rules($1)", [at]);
}
const rows = async (sql: string, values: unknown[] = []) => (await fixtures.sql.query(sql, values)).rows;

/** What fired, the first first: `key_limit warning 2026-11-01`, with why it was quiet. */
async function fired(): Promise<string[]> {
  const all = await rows(
    `select rule, state, period::text, quiet_reason from public.alerts where workspace_id = $1 order by number`,
    [workspace],
  );
  return all.map((row) => [row.rule, row.state, row.period, row.quiet_reason].filter(Boolean).join(" "));
}
const lastDetails = async () =>
  (
    await rows("select details from public.alerts where workspace_id = $1 order by number desc limit 1", [
      workspace,
    ])
  )[0].details;
const states = async () =>
  (
    await rows("select rule, state from public.alert_states where workspace_id = $1 order by rule", [
      workspace,
    ])
  ).map(({ rule, state }) => `${rule} ${state}`);

const key = (options: KeyOptions = {}) => fixtures.key(workspace, options);
const spend = (id: string, usd: string, month = "2026-11-01") =>
  rows(
    `insert into public.key_spend (workspace_id, api_key_id, month, amount_usd, message_count) values ($1, $2, $3, $4, 1)
     on conflict (workspace_id, api_key_id, month) do update set amount_usd = excluded.amount_usd`,
    [workspace, id, month, usd],
  );
const set = (rule: string, columns: { is_on?: boolean; parameter?: number }) =>
  rows(
    `insert into public.alert_rules (workspace_id, rule, is_on, parameter) values ($1, $2, $3, $4)
     on conflict (workspace_id, rule) do update set is_on = excluded.is_on, parameter = excluded.parameter`,
    [workspace, rule, columns.is_on ?? true, columns.parameter ?? null],
  );

describe("A key near its monthly limit", () => {
  test("Warns, alerts when it is used up, each once, and tells when it is reset", async () => {
    const { id } = await key({ monthly_limit: "100" });
    await spend(id, "79.99");
    await judge(now);
    expect(await fired()).toEqual([]);
    await spend(id, "80");
    await judge(now);
    await judge(later(1));
    expect(await fired()).toEqual(["key_limit warning 2026-11-01"]);
    await spend(id, "100.5");
    await judge(now);
    expect(await lastDetails()).toEqual({
      ...{ subject: "Test key", amount_usd: "100", spent_usd: "100.5", percent: "100.5" },
      ...{ period_from: "2026-11-01", period_until: "2026-12-01", refused_usd: "0", on_limit: "refuse" },
    });
    await judge("2026-12-01T00:00:01Z");
    expect(await fired()).toEqual([
      ...["key_limit warning 2026-11-01", "key_limit alert 2026-11-01", "key_limit ok 2026-11-01"],
    ]);
    expect(await lastDetails()).toMatchObject({ because: "period_over", spent_usd: "100.5" });
    expect(await states()).toEqual([]);
  });

  test("Alerts once it refuses costs, though it is not reached, until it is raised above them", async () => {
    const { id } = await key({ monthly_limit: "100" });
    await spend(id, "99");
    await judge(now);
    await rows(
      `insert into public.refused_spend
         (workspace_id, environment, api_key_id, day, period_from, made_on, amount_usd, message_count)
       values ($1, 'live', $2, '2026-11-18', '2026-11-01', '2026-11-18', 7.25, 3)`,
      [workspace, id],
    );
    await judge(now);
    expect(await lastDetails()).toMatchObject({ spent_usd: "99", refused_usd: "7.25" });
    await rows("update public.api_keys set monthly_limit = 200 where id = $1", [id]);
    await judge(now);
    expect(await fired()).toEqual([
      ...["key_limit warning 2026-11-01", "key_limit alert 2026-11-01", "key_limit ok 2026-11-01"],
    ]);
  });

  test("Tells when the limit is raised, and not again in that month after it is lowered", async () => {
    const { id } = await key({ monthly_limit: "100" });
    await spend(id, "90");
    await judge(now);
    await rows("update public.api_keys set monthly_limit = 200 where id = $1", [id]);
    await judge(now);
    await rows("update public.api_keys set monthly_limit = 100 where id = $1", [id]);
    await judge(now);
    await rows("update public.api_keys set monthly_limit = null where id = $1", [id]);
    await judge(now);
    expect(await fired()).toEqual(["key_limit warning 2026-11-01", "key_limit ok 2026-11-01"]);
  });

  test("Warns, alerts and ends again for a limit that was raised, each once", async () => {
    const { id } = await key({ monthly_limit: "100" });
    const at = async (usd: string, limit: number) => {
      await spend(id, usd);
      await rows("update public.api_keys set monthly_limit = $2 where id = $1", [id, limit]);
      await judge(now);
      await judge(later(1));
    };
    await at("90", 100);
    await at("105", 100);
    await at("105", 200);
    await at("165", 200);
    await at("205", 200);
    await at("205", 300);
    const ofLimit = ["warning", "alert", "ok"].map((state) => `key_limit ${state} 2026-11-01`);
    expect(await fired()).toEqual([...ofLimit, ...ofLimit]);
    // Levels that the new limit leaves reached are not told again.
    await at("290", 300);
    await at("290", 310);
    expect((await fired()).slice(6)).toEqual(["key_limit warning 2026-11-01"]);
  });

  test("Heeds the workspace's percentage, and ends with a key that is revoked", async () => {
    await set("key_limit", { parameter: 50 });
    const { id } = await key({ monthly_limit: "100" });
    await spend(id, "50");
    await judge(now);
    await rows("update public.api_keys set revoked_at = now() where id = $1", [id]);
    await judge(now);
    expect(await fired()).toEqual(["key_limit warning 2026-11-01", "key_limit ok 2026-11-01"]);
    expect(await lastDetails()).toMatchObject({ because: "gone", subject: "Test key" });
  });
});

describe("A key near its expiry", () => {
  test("Warns a week before, alerts when it has expired, and is forgotten after a month", async () => {
    await key({ expires_at: "2026-11-26T00:00:00Z" });
    await judge(now);
    expect(await fired()).toEqual([]);
    await judge("2026-11-19T00:00:00Z");
    await judge("2026-11-26T00:00:00Z");
    await judge("2026-12-20T00:00:00Z");
    expect(await fired()).toEqual(["key_expiry warning 2026-11-26", "key_expiry alert 2026-11-26"]);
    expect(await lastDetails()).toMatchObject({ expires_at: "2026-11-26T00:00:00.000+00:00" });
    await judge("2026-12-27T00:00:00Z");
    expect(await states()).toEqual([]);
    await judge("2026-12-28T00:00:00Z");
    expect(await fired()).toHaveLength(2);
  });

  test("Tells when it is extended, and warns before the new moment", async () => {
    const { id } = await key({ expires_at: "2026-11-20T00:00:00Z" });
    await judge(now);
    await rows("update public.api_keys set expires_at = '2026-12-24' where id = $1", [id]);
    await judge(now);
    await judge("2026-12-18T00:00:00Z");
    expect(await fired()).toEqual([
      ...["key_expiry warning 2026-11-20", "key_expiry ok 2026-11-20", "key_expiry warning 2026-12-24"],
    ]);
  });

  test("Is not told of a key that expired long ago", async () => {
    await key({ expires_at: "2026-11-01T00:00:00Z" });
    await judge(now);
    expect(await fired()).toEqual([]);
  });
});

describe("A source that has gone silent", () => {
  const arrive = (id: string, first: string, last: string) =>
    rows(
      `insert into public.source_arrivals (workspace_id, api_key_id, emitter, first_at, last_at) values ($1, $2, 'codex', $3, $4)
       on conflict (workspace_id, api_key_id, emitter) do update set last_at = excluded.last_at`,
      [workspace, id, first, last],
    );

  test("Is told of after a day, once, and again when it sends", async () => {
    const { id } = await key();
    await arrive(id, later(-72), later(-1));
    await judge(now);
    await judge(later(22));
    expect(await fired()).toEqual([]);
    await judge(later(24));
    await judge(later(240));
    expect(await fired()).toEqual(["silent_source warning 2026-11-18"]);
    expect(await lastDetails()).toMatchObject({ hours: 24, last_at: "2026-11-18T11:00:00.000+00:00" });
    await arrive(id, now, later(241));
    await judge(later(241));
    await judge(later(260));
    expect(await fired()).toEqual(["silent_source warning 2026-11-18", "silent_source ok 2026-11-18"]);
  });

  test("Is not told of where it never sent for long, or fell silent long ago", async () => {
    const [short, old] = [await key(), await key()];
    await arrive(short.id, later(-30), later(-29));
    await arrive(old.id, later(-2000), later(-240));
    await judge(now);
    expect(await fired()).toEqual([]);
  });
});

describe("Usage without a price", () => {
  const unpriced = (model: string | null, count: number, day = "2026-11-18") =>
    rows(
      `insert into public.daily_totals (workspace_id, environment, dimension, day, value, type, amount_usd, message_count, unpriced_count)
       values ($1, 'live', 'model', $2, $3, 'usage', 0, $4, $4)
       on conflict (workspace_id, environment, dimension, day, value, type) do update set unpriced_count = excluded.unpriced_count`,
      [workspace, day, model, count],
    );

  test("Is told of once for each model, and when all of it has a price", async () => {
    await unpriced("gpt-9", 12);
    await unpriced(null, 1);
    await judge(now);
    await judge(later(1));
    expect(await fired()).toEqual(Array(2).fill("unpriced_usage warning 2026-11-01"));
    // The next month does not end it: what has no price still has none.
    await judge("2026-12-02T00:00:00Z");
    expect(await fired()).toHaveLength(2);
    await unpriced("gpt-9", 0);
    await judge("2026-12-02T00:00:00Z");
    expect((await fired()).slice(2)).toEqual(["unpriced_usage ok 2026-11-01"]);
    expect(await lastDetails()).toMatchObject({ model: "gpt-9", subject: "gpt-9", line_count: 0 });
  });
});

describe("What is told", () => {
  const nearLimit = async () => {
    const made = await key({ monthly_limit: "100" });
    await spend(made.id, "90");
    return made;
  };
  const snooze = (rule: string, subject: string | null, until: string) =>
    rows("insert into public.alert_snoozes (workspace_id, rule, subject_id, until) values ($1, $2, $3, $4)", [
      ...[workspace, rule, subject, until],
    ]);
  const channel = () =>
    rows(
      "insert into public.alert_channels (workspace_id, name, kind, target) values ($1, 'a', 'webhook', 'x') returning id",
      [workspace],
    );
  const deliveries = async () =>
    (await rows("select 1 from public.deliveries where workspace_id = $1", [workspace])).length;

  test("Is recorded once by two processes that judge at the same time, again and again", async () => {
    await channel();
    const { id } = await nearLimit();
    const others = Array.from({ length: 3 }, () => new pg.Client({ connectionString: database.url }));
    await Promise.all(others.map((client) => client.connect()));
    for (const usd of ["90", "100", "120"]) {
      await spend(id, usd);
      await Promise.all(others.flatMap((client) => [judge(now, client), judge(later(1), client)]));
    }
    await Promise.all(others.map((client) => client.end()));
    expect(await fired()).toEqual(["key_limit warning 2026-11-01", "key_limit alert 2026-11-01"]);
    expect(await deliveries()).toBe(2);
  });

  test("Waits for nobody: a process that finds another one judging judges nothing", async () => {
    await nearLimit();
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    await other.query("begin");
    await other.query("select private.lock_alert_rules('keys')");
    await judge(now);
    expect(await fired()).toEqual([]);
    await other.query("commit");
    await other.end();
    await judge(now);
    expect(await fired()).toEqual(["key_limit warning 2026-11-01"]);
  });

  test.each<[string, (id: string) => Promise<unknown>]>([
    ["the rule", () => snooze("key_limit", null, "2999-01-01")],
    ["the key", (id) => snooze("key_limit", id, "2999-01-01")],
  ])("Is recorded quietly while %s is snoozed, and so is its end", async (_, begin) => {
    await channel();
    const { id } = await nearLimit();
    await begin(id);
    await judge(now);
    await rows("delete from public.alert_snoozes where workspace_id = $1", [workspace]);
    await rows("update public.api_keys set monthly_limit = 500 where id = $1", [id]);
    await judge(now);
    expect(await fired()).toEqual([
      ...["key_limit warning 2026-11-01 snoozed", "key_limit ok 2026-11-01 start_untold"],
    ]);
    expect(await deliveries()).toBe(0);
  });

  test("Is told as ever where another key or rule is snoozed, or the snooze is over", async () => {
    const { id } = await nearLimit();
    await snooze("key_limit", (await key()).id, "2999-01-01");
    await snooze("key_expiry", null, "2999-01-01");
    await snooze("key_limit", id, "2020-01-01");
    await judge(now);
    expect(await fired()).toEqual(["key_limit warning 2026-11-01"]);
  });

  test("Is nothing of a rule that is off; a threshold is recorded quietly", async () => {
    await nearLimit();
    await set("key_limit", { is_on: false });
    await set("budget_threshold", { is_on: false });
    await judge(now);
    await service.query("select private.raise_alerts($1)", [
      JSON.stringify([
        {
          ...{ workspace_id: workspace, rule: "budget_threshold", subject_type: "budget", subject_id: "b1" },
          ...{ period: "2026-11-01", level: "80", details: { percent: "80" } },
        },
      ]),
    ]);
    expect(await fired()).toEqual(["budget_threshold warning 2026-11-01 rule_off"]);
  });
});
