import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { sweepOldRecords } from "@/lib/ledger/retention/old-records";
import { crossing, raise } from "@/tests/helpers/alerts";
import { connectService } from "@/tests/helpers/connect-service";
import type { TestDatabase } from "@/tests/helpers/database";
import type { Fixtures } from "@/tests/helpers/keys";
import { withDatabase } from "@/tests/helpers/with-database";

// How long idempotency keys, alerts, the audit log and repricings are kept, with the settings that hold by default.

let database: TestDatabase;
let fixtures: Fixtures;
let workspace: string;
withDatabase((open) => {
  ({ database, fixtures } = open);
});
connectService(() => database);
beforeEach(async () => {
  workspace = await fixtures.workspace();
});

const run = async (sql: string, ...values: unknown[]) =>
  (await fixtures.sql.query(sql, [workspace, ...values])).rows;
const key = (name: string, daysAgo: number) =>
  run(
    `insert into private.idempotency (workspace_id, key, environment, message_id, request, response, created_at)
     values ($1, $2, 'live', $3, '{}', '{}', now() - $4 * interval '1 day')`,
    name,
    randomUUID(),
    daysAgo,
  );
const namesOf = async (sql: string) => (await run(sql)).map(({ name }) => name).sort();

test("Each kind is kept for its days, and removed after them", async () => {
  await key("old", 731);
  await key("recent", 729);
  await run("delete from public.audit_log where workspace_id = $1");
  for (const [action, days] of [
    ["old", 1096],
    ["recent", 1094],
  ] as const)
    await run(
      "insert into public.audit_log (workspace_id, action, subject, at) values ($1, $2, 'key 1', now() - $3 * interval '1 day')",
      action,
      days,
    );
  for (const [provider, days, status] of [
    ["old", 366, "done"],
    ["recent", 364, "done"],
    ["open", 900, "running"],
  ] as const)
    await run(
      `insert into public.repricings (workspace_id, provider, from_at, status, finished_at)
       values ($1, $2, now(), $4, now() - $3 * interval '1 day')`,
      provider,
      days,
      status,
    );
  for (const [model, days] of [
    ["old", 31],
    ["recent", 29],
  ] as const)
    await run(
      `insert into private.refused_calls
         (workspace_id, environment, key_hash, api_key_id, day, model, period_from, amount_usd, refused_at)
       values ($1, 'live', sha256(convert_to($2, 'UTF8')), gen_random_uuid(), now(), $2, now(), 1, now() - $3 * interval '1 day')`,
      model,
      days,
    );
  expect(await sweepOldRecords()).toBe(1);
  expect(await namesOf("select model as name from private.refused_calls where workspace_id = $1")).toEqual([
    "recent",
  ]);
  expect(await namesOf("select key as name from private.idempotency where workspace_id = $1")).toEqual([
    "recent",
  ]);
  expect(await namesOf("select action as name from public.audit_log where workspace_id = $1")).toEqual([
    "recent",
  ]);
  expect(await namesOf("select provider as name from public.repricings where workspace_id = $1")).toEqual([
    "open",
    "recent",
  ]);
  expect(await sweepOldRecords()).toBe(0);
});

test("An alert is kept while it must not fire again, its state goes on, or it is to be sent", async () => {
  const [budget] = await run(
    "insert into public.budgets (workspace_id, name, scope_type, amount, period, starts_on, ends_on) values ($1, 'Long', 'global', 100, 'once', '2020-01-01', '2999-01-01') returning id",
  );
  const of = (subject: string, period: string) => crossing(workspace, { subject_id: subject, period });
  await raise(
    fixtures,
    of("gone", "2020-01-01"),
    of("fresh", "2020-01-01"),
    of("goes on", "2020-01-01"),
    of("unsent", "2020-01-01"),
    of(budget.id, "2020-01-01"),
    of(budget.id, "2019-01-01"),
  );
  await run(
    "update public.alerts set fired_at = now() - interval '800 days' where workspace_id = $1 and subject_id <> 'fresh'",
  );
  await run(
    "insert into public.alert_states (workspace_id, rule, subject_type, subject_id, period, state, since) values ($1, 'budget_threshold', 'budget', 'goes on', '2020-01-01', 'warning', now())",
  );
  const [channel] = await run(
    "insert into public.alert_channels (workspace_id, name, kind, target) values ($1, 'Ours', 'webhook', 'example.com') returning id",
  );
  await run(
    `insert into public.deliveries (workspace_id, kind, channel_id, channel_name, channel_kind, alert_id)
     select workspace_id, 'alert', $2, 'Ours', 'webhook', id from public.alerts where workspace_id = $1 and subject_id = 'unsent'`,
    channel.id,
  );
  await sweepOldRecords();
  expect(
    await namesOf("select subject_id || ' ' || period as name from public.alerts where workspace_id = $1"),
  ).toEqual(
    [`${budget.id} 2020-01-01`, "fresh 2020-01-01", "goes on 2020-01-01", "unsent 2020-01-01"].sort(),
  );
});

test("Fewer than 90 days are never applied, and a step deletes so many at most", async () => {
  await fixtures.sql.query("delete from private.idempotency");
  await key("recent", 89);
  for (const name of ["a", "b", "c"]) await key(name, 91);
  const sweep = (days: number) =>
    fixtures.sql.query("select private.sweep_old_records($1, 2)", [
      JSON.stringify({ idempotency: days, alerts: days, audit: days, repricings: days }),
    ]);
  await sweep(1);
  expect(await run("select key from private.idempotency where workspace_id = $1")).toHaveLength(2);
  await sweep(1);
  await sweep(1);
  expect(await namesOf("select key as name from private.idempotency where workspace_id = $1")).toEqual([
    "recent",
  ]);
});

test("A telling of a call is compared with others for a day, and removed after it", async () => {
  const { id: key } = await fixtures.key(workspace);
  for (const [emitter, hours] of [
    ["old", 25],
    ["recent", 23],
  ] as const)
    await run(
      `insert into private.call_tellings
         (workspace_id, api_key_id, likeness, started_us, ended_us, scope, trace, cache, message_id, told_at, ids, rank, emitter)
       values ($1, $2, 1, 0, 0, 0, 0, 0, gen_random_uuid(), now() - $4 * interval '1 hour', 0, 0, $3)`,
      key,
      emitter,
      hours,
    );
  await fixtures.sql.query("select private.sweep_tellings(100)");
  expect(await namesOf("select emitter as name from private.call_tellings where workspace_id = $1")).toEqual([
    "recent",
  ]);
});
