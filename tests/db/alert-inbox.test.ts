import { randomUUID } from "node:crypto";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { countEntries, selectEntries } from "@/lib/alerts/inbox/inbox-queries";
import { selectCrossings } from "@/lib/alerts/log/alert-log-queries";
import { crossing, raise } from "@/tests/helpers/alerts";
import { withInbox } from "@/tests/helpers/inbox";

// The entries of the inbox: one for each rule, subject and period, which holds as long as what it is about.
const inbox = withInbox();
const { rows, entries, settle, verdict, judge } = inbox;

describe("An entry of a state", () => {
  test("Is resolved when the state ends, for the same reason, and opens when it fires again", async () => {
    await judge(verdict("warning"));
    await settle();
    expect(await entries()).toEqual(["key_limit warning: open"]);
    await judge(verdict("alert"));
    expect(await entries()).toEqual(["key_limit alert: open"]);
    await judge(verdict("ok"));
    expect(await entries()).toEqual(["key_limit alert: recovered"]);
    await judge(verdict("warning", { period: "2026-12-01" }));
    await judge(verdict("ok", { period: "2027-01-01" }));
    expect(await entries()).toEqual(["key_limit alert: recovered", "key_limit warning: period_over"]);
  });

  test("Opens again without an alert where the state returns in a period in which it fired already", async () => {
    await judge(verdict("warning"));
    await judge(verdict("ok"));
    await judge(verdict("warning"));
    expect(await rows("select 1 from public.alerts where workspace_id = $1 and state <> 'ok'")).toHaveLength(
      1,
    );
    await settle();
    expect(await entries()).toEqual(["key_limit warning: open"]);
  });

  test("Stays resolved by hand while its state goes on, until something new fires", async () => {
    await judge(verdict("warning"));
    await rows(
      "update public.alert_entries set resolved_at = now(), resolved_because = 'by_hand' where workspace_id = $1",
    );
    await settle();
    expect(await entries()).toEqual(["key_limit warning: by_hand"]);
    await judge(verdict("alert"));
    expect(await entries()).toEqual(["key_limit alert: open"]);
  });

  test("Of an unusual day stays for a week", async () => {
    const day = {
      rule: "unusual_day",
      subject_type: "workspace",
      subject_id: inbox.workspace,
      period: "2026-11-10",
    };
    await judge(verdict("warning", day));
    await judge(verdict("forget", day));
    await settle("2026-11-16T23:00:00Z");
    expect(await entries()).toEqual(["unusual_day warning: open"]);
    await settle("2026-11-17T00:00:00Z");
    expect(await entries()).toEqual(["unusual_day warning: period_over"]);
  });
});

test("A snooze ends at its very instant, of one subject or of the whole rule", async () => {
  await raise(inbox.fixtures, crossing(inbox.workspace));
  const client = new pg.Client({ connectionString: inbox.database.adminUrl });
  await client.connect();
  const seen = async () => {
    const page = { after: null, atMost: 10 };
    const [open, snoozed] = await Promise.all(
      (["open", "snoozed"] as const).map((status) =>
        selectEntries(client, inbox.workspace, { status }, page),
      ),
    );
    const counts = await countEntries(client, inbox.workspace, randomUUID());
    return [open?.length, snoozed?.length, counts.open, counts.snoozed];
  };
  try {
    for (const subject of [crossing(inbox.workspace).subject_id, null]) {
      // One instant for all: that of the transaction.
      await client.query("begin");
      const until = (offset: string) =>
        client.query(
          `insert into public.alert_snoozes (workspace_id, rule, subject_id, until)
           values ($1, 'budget_threshold', $2, now() + $3::interval)
           on conflict (workspace_id, rule, subject_id) do update set until = excluded.until`,
          [inbox.workspace, subject, offset],
        );
      await until("1 microsecond");
      expect(await seen()).toEqual([0, 1, 0, 1]);
      await until("0");
      expect(await seen()).toEqual([1, 0, 1, 0]);
      await client.query("rollback");
    }
  } finally {
    await client.end();
  }
});

test("A threshold that is crossed during a snooze is not one that spend had reached before", async () => {
  const quiet = (level: string, reason: string) =>
    crossing(inbox.workspace, { level, is_quiet: true, quiet_reason: reason });
  await raise(
    inbox.fixtures,
    quiet("50", "was_above"),
    quiet("80", "snoozed"),
    quiet("90", "rule_off"),
    crossing(inbox.workspace, { level: "100" }),
  );
  const client = await inbox.fixtures.sql.connect();
  try {
    const crossings = await selectCrossings(client, inbox.workspace, "2026-11-01", 10);
    expect(crossings.map(({ level, was_above: wasAbove }) => `${level} ${wasAbove}`)).toEqual([
      "100 false",
      "90 false",
      "80 false",
      "50 true",
    ]);
  } finally {
    client.release();
  }
});

test("Removing a member leaves what they had to nobody", async () => {
  const [{ id: user }] = await rows(
    "insert into auth.users (id, email) values (gen_random_uuid(), $1) returning id",
    [`${randomUUID()}@example.com`],
  );
  await rows("insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, 'member')", [
    inbox.workspace,
    user,
  ]);
  await raise(inbox.fixtures, crossing(inbox.workspace));
  await rows("update public.alert_entries set assignee_id = $2 where workspace_id = $1", [
    inbox.workspace,
    user,
  ]);
  await rows("delete from public.workspace_members where workspace_id = $1 and user_id = $2", [
    inbox.workspace,
    user,
  ]);
  expect(await rows("select assignee_id from public.alert_entries where workspace_id = $1")).toEqual([
    { assignee_id: null },
  ]);
});
