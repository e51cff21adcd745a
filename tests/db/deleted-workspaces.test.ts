import type pg from "pg";
import { beforeEach, expect, test } from "vitest";
import { addChannel, crossing, raise } from "@/tests/helpers/alerts";
import type { Fixtures } from "@/tests/helpers/keys";
import { createMember } from "@/tests/helpers/sql-user";
import { withDatabase } from "@/tests/helpers/with-database";

// What is done beside requests finds the same work in two workspaces, one of which is deleted.

let fixtures: Fixtures;
let service: pg.Client;
withDatabase((open) => {
  ({ fixtures, service } = open);
});

let deleted: string;
let kept: string;
beforeEach(async () => {
  deleted = await fixtures.workspace();
  kept = await fixtures.workspace();
});

const remove = () =>
  fixtures.sql.query(
    "update public.workspaces set deleted_at = now(), prices_version = prices_version - private.deletion_mark() where id = $1",
    [deleted],
  );
const call = async (name: string, ...values: unknown[]) => {
  const { rows } = await service.query(
    `select private.${name}(${values.map((_, index) => `$${index + 1}`)}) as answer`,
    values,
  );
  return rows[0]?.answer;
};
const workspacesOf = (list: { workspace_id: string }[]) => list.map(({ workspace_id: id }) => id);

test("Sends no alert, makes no digest and tells no owner of a channel in a deleted workspace", async () => {
  const channels: string[] = [];
  for (const workspace of [deleted, kept]) {
    const address = "https://receiver.example/x";
    channels.push(await addChannel(fixtures, workspace, { address }));
    await addChannel(fixtures, workspace, {
      address,
      cadence: "daily",
      next_digest_at: "2026-11-01T00:00:00Z",
    });
    const off = {
      disabled_at: new Date(),
      disabled_reason: "failing",
    };
    const id = await addChannel(fixtures, workspace, { address, ...off });
    await fixtures.sql.query(
      "insert into public.deliveries (kind, workspace_id, details) values ('channel_off', $1, jsonb_build_object('channel_id', $2::text))",
      [workspace, id],
    );
    await raise(fixtures, crossing(workspace));
  }
  await remove();
  const [{ taken }] = (await service.query("select private.claim_deliveries(50, 5, 5, 60, true) as taken"))
    .rows as [{ taken: { workspace_id: string; kind: string }[] }];
  expect(JSON.stringify(taken)).toContain(channels[1]);
  expect(JSON.stringify(taken)).not.toContain(channels[0]);
  expect(new Set(workspacesOf(taken))).toEqual(new Set([kept]));
  expect(taken.map(({ kind }) => kind).sort()).toEqual(["alert", "channel_off"]);
  expect(await call("queue_scheduled", 10)).toBe(1);
});

test("Books no charge and corrects no price in a deleted workspace", async () => {
  for (const workspace of [deleted, kept]) {
    const project = await fixtures.project(workspace, "p");
    await fixtures.sql.query(
      `insert into public.recurring_subscriptions
         (workspace_id, id, project_id, source, environment, message, anchor_on, period, next_on, created_at)
       values ($1, gen_random_uuid(), $2, 'api', 'live', '{}', '2026-10-01', 'month', '2026-11-01', now())`,
      [workspace, project],
    );
    await fixtures.sql.query(
      "insert into public.repricings (workspace_id, provider, from_at) values ($1, 'p', '2026-11-01')",
      [workspace],
    );
  }
  await remove();
  const due = await service.query(
    "select workspace_id from private.lock_due_subscriptions('2026-11-22', 10)",
  );
  expect(workspacesOf(due.rows)).toEqual([kept]);
  const next = await service.query("select workspace_id from private.lock_next_repricing()");
  expect(workspacesOf(next.rows)).toEqual([kept]);
});

test("Mails no weekly report of a deleted workspace", async () => {
  for (const workspace of [deleted, kept]) {
    const { id: reader } = await createMember(fixtures, workspace, "viewer");
    await fixtures.sql.query(
      "insert into public.weekly_reports (workspace_id, user_id, time_zone) values ($1, $2, 'UTC')",
      [workspace, reader],
    );
    await fixtures.sql.query("update public.weekly_reports set next_at = now() where workspace_id = $1", [
      workspace,
    ]);
  }
  await remove();
  await call("queue_scheduled", 10);
  const taken: { workspace_id: string; kind: string }[] = await call("claim_deliveries", 10, 5, 5, 60, true);
  expect(workspacesOf(taken.filter(({ kind }) => kind === "weekly_report"))).toEqual([kept]);
});

test("Raises nothing and changes no state in a deleted workspace, whatever judges it", async () => {
  for (const workspace of [deleted, kept]) {
    await fixtures.key(workspace, { expires_at: new Date(Date.now() + 86_400_000).toISOString() });
    // Of a key that is gone: its state would be settled.
    await fixtures.sql.query(
      `insert into public.alert_states (workspace_id, rule, subject_type, subject_id, period, state, since)
       values ($1, 'key_limit', 'key', 'gone', '2026-11-01', 'alert', now())`,
      [workspace],
    );
  }
  await remove();
  await call("judge_key_rules");
  await raise(fixtures, crossing(deleted));
  const states = async (workspace: string) =>
    (
      await fixtures.sql.query("select rule from public.alert_states where workspace_id = $1 order by 1", [
        workspace,
      ])
    ).rows.map(({ rule }) => rule);
  expect(await states(kept)).toEqual(["key_expiry"]);
  expect(await states(deleted)).toEqual(["key_limit"]);
  const { rows } = await fixtures.sql.query(
    "select workspace_id from public.alerts where workspace_id = any ($1)",
    [[deleted, kept]],
  );
  expect(new Set(workspacesOf(rows))).toEqual(new Set([kept]));
  await fixtures.sql.query(
    "update public.workspaces set deleted_at = null, prices_version = prices_version + private.deletion_mark() where id = $1",
    [deleted],
  );
  await call("judge_key_rules");
  expect(await states(deleted)).toEqual(["key_expiry"]);
});

test("Hides the ledger of a deleted workspace from a key's transaction, past the guard", async () => {
  const read = async () => {
    await service.query("begin; set local role outlay_key");
    await service.query("select set_config('request.api_key', $1, true)", [
      JSON.stringify({ id: "k", workspace_id: deleted, environment: "live", allow: null, deny: [] }),
    ]);
    const { rows } = await service.query("select from public.daily_totals where workspace_id = $1", [
      deleted,
    ]);
    await service.query("rollback");
    return rows.length;
  };
  await fixtures.sql.query(
    `insert into public.daily_totals
       (workspace_id, environment, dimension, day, value, type, amount_usd, message_count, unpriced_count)
     values ($1, 'live', 'provider', '2026-11-02', 'p', 'usage', 1, 1, 0)`,
    [deleted],
  );
  const before = await read();
  await remove();
  expect([before, await read()]).toEqual([1, 0]);
});
