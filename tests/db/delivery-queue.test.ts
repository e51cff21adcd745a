import { describe, expect, test } from "vitest";
import { attempt } from "@/lib/alerts/delivery/attempt";
import type { Delivery } from "@/lib/alerts/delivery/claimed";
import {
  claimDeliveries,
  finishDelivery,
  queueScheduled,
  sweepDeliveries,
} from "@/lib/alerts/delivery/delivery-queries";
import { sweepQueue } from "@/lib/alerts/delivery/jobs";
import { DeliveryPump, deliver } from "@/lib/alerts/delivery/pump";
import { addChannel, crossing, raise } from "@/tests/helpers/alerts";
import { type OpenDeliveries, withDeliveries } from "@/tests/helpers/deliveries";
import { mailsTo } from "@/tests/helpers/outbox";
import { createMember } from "@/tests/helpers/sql-user";

// The promises of the queue, for every kind of delivery: which process takes what, and how long rows stay.

let fixtures: OpenDeliveries["fixtures"];
let workspace: string;

const { work, raiseLevels, states } = withDeliveries((open) => {
  ({ fixtures, workspace } = open);
});

const channel = (columns: Record<string, unknown> = {}) =>
  addChannel(fixtures, workspace, { address: "https://receiver.example/hooks/T0PSECRET", ...columns });
const sql = (text: string, ...values: unknown[]) => fixtures.sql.query(text, values);
const limits = { all: 64, failing: 32, perQueue: 4 };
const claim = (within = limits, canMail = true) => claimDeliveries(within, 40, canMail);
const endLeases = () => sql("update public.deliveries set leased_until = now() where lease is not null");
const isFailing = (each: Delivery) => "channel" in each && each.channel.is_failing;

/** Queues one delivery of each kind. @returns the address that it is mailed to */
const kinds: Record<string, () => Promise<string>> = {
  alert: async () => {
    const { email } = await createMember(fixtures, workspace, "viewer");
    await addChannel(fixtures, workspace, { kind: "email", target: email });
    await raiseLevels("80");
    return email;
  },
  digest: async () => {
    const { email } = await createMember(fixtures, workspace, "viewer");
    const id = await addChannel(fixtures, workspace, { kind: "email", target: email });
    await sql("update public.alert_channels set cadence = 'daily' where id = $1", id);
    await raiseLevels("80");
    await sql("update public.alert_channels set next_digest_at = now() where id = $1", id);
    await Promise.all([queueScheduled(20), queueScheduled(20)]);
    return email;
  },
  weekly_report: async () => {
    const { id, email } = await createMember(fixtures, workspace, "viewer");
    await sql(
      "insert into public.weekly_reports (workspace_id, user_id, time_zone) values ($1, $2, 'UTC')",
      workspace,
      id,
    );
    await sql("update public.weekly_reports set next_at = now() where user_id = $1", id);
    await Promise.all([queueScheduled(20), queueScheduled(20)]);
    return email;
  },
  channel_off: async () => {
    const { email } = await createMember(fixtures, workspace, "owner");
    const id = await channel({ disabled_at: new Date(), disabled_reason: "gone" });
    await sql(
      "insert into public.deliveries (kind, workspace_id, details) values ('channel_off', $1, jsonb_build_object('channel_id', $2::text))",
      workspace,
      id,
    );
    return email;
  },
  account_deleted: async () => {
    const { email } = await createMember(fixtures, workspace, "viewer");
    await sql(
      "insert into public.deliveries (kind, recipient, details) values ('account_deleted', $1, '{\"erased_at\": 0}')",
      email,
    );
    return email;
  },
};

describe.each(Object.entries(kinds))("A delivery of the kind %s", (kind, queue) => {
  const stateOf = async () =>
    (await sql("select state, attempts from public.deliveries where kind = $1", kind)).rows;

  test("Is taken by one process, by another when that one was killed, and sent once", async () => {
    const email = await queue();
    const claims = (await Promise.all([claim(), claim()])).flat().filter((each) => each.kind === kind);
    expect(claims).toHaveLength(1);
    expect(await claim()).toEqual([]);
    await endLeases();
    const [again] = (await claim()) as [Delivery];
    expect([again.id, again.attempts]).toEqual([claims[0]?.id, 2]);
    expect(await deliver(again)).toBe("delivered");
    // The process that was slow, not killed, changes nothing any more.
    const ended = { outcome: "failed", status: null, error: "late", retry_in_ms: 0 } as const;
    expect(await finishDelivery({ id: again.id, lease: String(claims[0]?.lease), ...ended })).toBeNull();
    await work();
    expect(await mailsTo(email)).toHaveLength(1);
  });

  test("Is tried again after a failure, under its id, and given up after three days", async () => {
    await queue();
    const failed = async () => ({ outcome: "failed", status: null, error: "no" }) as const;
    const [first] = (await claim()) as [Delivery];
    expect(await deliver(first, failed)).toBe("pending");
    const { rows } = await sql(
      "select extract(epoch from next_attempt_at - clock_timestamp())::float8 as wait from public.deliveries where id = $1",
      first.id,
    );
    expect(rows[0].wait).toBeGreaterThan(2);
    expect(rows[0].wait).toBeLessThan(7);
    await sql(
      "update public.deliveries set next_attempt_at = now(), give_up_at = now() where id = $1",
      first.id,
    );
    const [last] = (await claim()) as [Delivery];
    expect(last.id).toBe(first.id);
    expect(await deliver(last, failed)).toBe("dead");
    // Of an address that was written to about an account, nothing is left.
    expect(await stateOf()).toEqual(kind === "account_deleted" ? [] : [{ state: "dead", attempts: 2 }]);
  });
});

describe("The queue", () => {
  test("Keeps mails until they can be sent, and deletes them after three days", async () => {
    await kinds.weekly_report?.();
    await kinds.account_deleted?.();
    expect(await claim(limits, false)).toEqual([]);
    const age = (by: string) =>
      sql("update public.deliveries set give_up_at = now() - $1::interval where channel_id is null", by);
    const left = async () => (await sql("select from public.deliveries where channel_id is null")).rowCount;
    await age("59 minutes");
    await sweepQueue();
    expect(await left()).toBe(2);
    await age("61 minutes");
    await sweepQueue();
    expect(await left()).toBe(0);
  });

  test("Sends one report about a week, whatever the reader's time zone becomes", async () => {
    const email = await kinds.weekly_report?.();
    await work();
    await sql("update public.weekly_reports set next_at = now()");
    expect(await queueScheduled(20)).toBe(1);
    await work();
    expect(await mailsTo(String(email))).toHaveLength(1);
  });

  test("Tells no owner of a channel that is on again", async () => {
    const email = await kinds.channel_off?.();
    await sql("update public.alert_channels set disabled_at = null, disabled_reason = null");
    const [claimed] = (await claim()) as [Delivery];
    expect(await attempt(claimed)).toMatchObject({ outcome: "gone" });
    expect(await mailsTo(String(email))).toEqual([]);
  });

  test("Sends four mails of a kind at once, and others beside them", async () => {
    for (let count = 0; count < 6; count += 1) await kinds.account_deleted?.();
    await kinds.weekly_report?.();
    const claimed = [...(await claim()), ...(await claim())].map(({ kind }) => kind);
    expect(claimed.sort()).toEqual([...Array(4).fill("account_deleted"), "weekly_report"]);
  });

  test("Gives channels that fail one place each, and the others four", async () => {
    await channel();
    await channel({ failing_since: new Date() });
    await raise(
      fixtures,
      ...Array.from({ length: 10 }, (_, index) => crossing(workspace, { subject_id: `b${index}` })),
    );
    const claimed = [...(await claim()), ...(await claim())];
    expect([claimed.filter(isFailing).length, claimed.length]).toEqual([1, 5]);
  });

  test("Gives channels that fail so many places together, also over all of them, and the rest to others", async () => {
    for (let index = 0; index < 5; index += 1) await channel({ failing_since: new Date() });
    await channel();
    await raise(
      fixtures,
      ...Array.from({ length: 3 }, (_, index) => crossing(workspace, { subject_id: `b${index}` })),
    );
    const few = { ...limits, failing: 2 };
    const failing = (claimed: Delivery[]) =>
      [true, false].map((is) => claimed.filter((each) => isFailing(each) === is).length);
    expect(failing(await claim(few))).toEqual([2, 3]);
    expect(failing(await claim({ ...few, failing: 0 }))).toEqual([0, 0]);
    expect(failing(await claim({ ...few, all: 1 }))).toEqual([1, 0]);
  });

  test("Has at most 32 deliveries of channels that fail sent by one process, however often it looks", async () => {
    for (let index = 0; index < 40; index += 1) await channel({ failing_since: new Date() });
    await raise(fixtures, crossing(workspace));
    let sent = 0;
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const pump = new DeliveryPump(async () => {
      sent += 1;
      await answered;
      return { outcome: "delivered", status: 204 };
    });
    await pump.look();
    await pump.look();
    expect(sent).toBe(32);
    answer();
    await pump.drain();
    expect(sent).toBe(40);
  });

  test("Is swept in steps of so many, and all of it by the job", async () => {
    const id = await channel();
    const levels = ["50", "60", "70", "80", "90"];
    await raiseLevels(...levels);
    await work();
    const age = () =>
      fixtures.sql.query(
        "update public.deliveries set created_at = now() - interval '31 days' where workspace_id = $1",
        [workspace],
      );
    await age();
    expect([await sweepDeliveries(2), (await states(id)).length]).toEqual([2, 3]);
    await raiseLevels("91", "92", "93");
    await fixtures.sql.query("delete from public.alert_channels where id = $1", [id]);
    // Of what nobody will send, too.
    await fixtures.sql.query(
      "update public.deliveries set state = 'pending' where workspace_id = $1 and state = 'cancelled'",
      [workspace],
    );
    expect(await sweepDeliveries(2)).toBe(4);
    await age();
    await sweepQueue();
    await sweepQueue();
    expect(await states(id)).toEqual([]);
  });

  test("Is swept: the log after 30 days, and what nobody will send", async () => {
    const kept = await channel();
    const off = await channel({ disabled_at: new Date(), disabled_reason: "failing" });
    const gone = await channel();
    await raiseLevels("50");
    await fixtures.sql.query("delete from public.alert_channels where id = $1", [gone]);
    await work();
    await fixtures.sql.query(
      "update public.deliveries set give_up_at = now() - interval '1 second' where channel_id = $1",
      [off],
    );
    await sweepQueue();
    expect([await states(kept), await states(off), await states(gone)]).toEqual([
      ["50 delivered"],
      ["50 dead"],
      ["50 cancelled"],
    ]);
    await fixtures.sql.query(
      "update public.deliveries set created_at = now() - interval '30 days' where workspace_id = $1",
      [workspace],
    );
    await sweepQueue();
    expect([await states(kept), await states(off), await states(gone)]).toEqual([[], [], []]);
  });
});
