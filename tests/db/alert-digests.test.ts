import pg from "pg";
import { Webhook } from "standardwebhooks";
import { describe, expect, test, vi } from "vitest";
import { queueScheduled } from "@/lib/alerts/delivery/delivery-queries";
import { sweepQueue } from "@/lib/alerts/delivery/jobs";
import {
  addChannel,
  crossing,
  deliveriesOf,
  passTheWait,
  type Receiver,
  signingSecret,
  status,
} from "@/tests/helpers/alerts";
import { type OpenDeliveries, withDeliveries } from "@/tests/helpers/deliveries";

// Digests of channels, made and sent by the code of the service on a real database, with a receiver of the test's own.

let database: OpenDeliveries["database"];
let fixtures: OpenDeliveries["fixtures"];
let workspace: string;
let receiver: Receiver;

const {
  work: send,
  raiseLevels,
  stored,
} = withDeliveries((open) => {
  ({ database, fixtures, workspace, receiver } = open);
});

/** Adds a channel, by default with a digest each day. */
async function channel(columns: Record<string, unknown> = {}): Promise<string> {
  const id = await addChannel(fixtures, workspace, { address: "https://receiver.example/hook" });
  await change(id, { cadence: "daily", ...columns });
  return id;
}
const change = (id: string, columns: Record<string, unknown>) =>
  fixtures.sql.query(
    `update public.alert_channels set ${Object.keys(columns).map((name, index) => `${name} = $${index + 2}`)} where id = $1`,
    [id, ...Object.values(columns)],
  );
const connect = async () => {
  const client = new pg.Client({ connectionString: database.adminUrl });
  await client.connect();
  return client;
};
/** Moves the clock to the channel's next digest. */
const passThePeriod = (id: string) =>
  fixtures.sql.query("update public.alert_channels set next_digest_at = now() where id = $1", [id]);
const digestsOf = async (id: string) =>
  (await deliveriesOf(fixtures, id)).filter((row) => row.digest_at !== null);
const states = async (id: string) =>
  (await deliveriesOf(fixtures, id)).map(
    (row) => `${row.level ?? "digest"} ${row.state}${row.digest_id ? " in it" : ""}`,
  );
const bodies = () => receiver.received.map(({ body }) => JSON.parse(body));
async function work(): Promise<void> {
  await queueScheduled(20);
  await send();
}

describe("A digest", () => {
  test("Has all that was collected since the last one, once, in one signed webhook", async () => {
    const id = await channel();
    await raiseLevels("50", "80");
    await work();
    expect([receiver.received.length, await states(id)]).toEqual([0, ["50 collected", "80 collected"]]);
    await passThePeriod(id);
    await work();
    await work();
    const [{ body, headers }] = receiver.received as [Receiver["received"][0]];
    const payload = new Webhook(signingSecret).verify(body, headers) as {
      type: string;
      data: { count: number; alerts: { level: string; title: string; figures: object }[] };
    };
    expect([payload.type, payload.data.count, payload.data.alerts.map(({ level }) => level)]).toEqual([
      "alert.digest",
      2,
      ["80", "50"],
    ]);
    expect(payload.data.alerts[0]).toMatchObject({
      title: "80% of the budget Everything is spent",
      figures: { spent_usd: "80.01" },
    });
    expect(await states(id)).toEqual(["50 collected in it", "80 collected in it", "digest delivered"]);
    await raiseLevels("100");
    await passThePeriod(id);
    await work();
    expect(bodies().map(({ data }) => data.alerts.map(({ level }: { level: string }) => level))).toEqual([
      ["80", "50"],
      ["100"],
    ]);
  });

  test("Is not made where nothing was collected, and the next one is planned all the same", async () => {
    const id = await channel();
    await passThePeriod(id);
    await work();
    expect([receiver.received.length, (await deliveriesOf(fixtures, id)).length]).toEqual([0, 0]);
    expect((await stored(id)).next_digest_at.getTime()).toBeGreaterThan(Date.now());
  });

  test("Is made once by many processes at once", async () => {
    const ids = await Promise.all(Array.from({ length: 5 }, () => channel()));
    await raiseLevels("50", "80");
    for (const id of ids) await passThePeriod(id);
    await Promise.all(Array.from({ length: 8 }, () => queueScheduled(20)));
    for (const id of ids) expect(await digestsOf(id)).toHaveLength(1);
  });

  test("Is left to the process that is making it, and made by another if that one is killed meanwhile", async () => {
    const id = await channel();
    await raiseLevels("80");
    await passThePeriod(id);
    const killed = await connect();
    await killed.query("begin");
    await killed.query("select private.queue_scheduled(20)");
    // Another process passes it over at once, instead of waiting or failing.
    expect(await queueScheduled(20)).toBe(0);
    await killed.end();
    await vi.waitUntil(async () => (await queueScheduled(20)) === 1, 30_000);
    expect(await digestsOf(id)).toHaveLength(1);
  });

  test("Counts its failures for the channel, and is given up when the receiver is gone", async () => {
    const id = await channel();
    await raiseLevels("80");
    await passThePeriod(id);
    receiver.answer = status(500);
    await work();
    expect((await stored(id)).failing_since).not.toBeNull();
    await raiseLevels("100");
    receiver.answer = status(410);
    await passTheWait(fixtures, id);
    await work();
    expect(await states(id)).toEqual(["80 collected in it", "digest dead", "100 dead"]);
    expect((await stored(id)).disabled_reason).toBe("gone");
  });

  test("Takes what was collected while the channel was off for failing, in one digest", async () => {
    const id = await channel();
    await raiseLevels("50");
    await change(id, { disabled_at: new Date(), disabled_reason: "failing" });
    await raiseLevels("80");
    await passThePeriod(id);
    await work();
    expect(receiver.received).toHaveLength(0);
    await change(id, { disabled_at: null, disabled_reason: null });
    await work();
    expect(bodies().map(({ data }) => data.count)).toEqual([2]);
  });

  test("Keeps what waits for it when the log is swept, and ends it with its channel", async () => {
    const id = await channel();
    await raiseLevels("80");
    await fixtures.sql.query("update public.deliveries set created_at = now() - interval '40 days'");
    await sweepQueue();
    expect(await states(id)).toEqual(["80 collected"]);
    await fixtures.sql.query("delete from public.alert_channels where id = $1", [id]);
    await sweepQueue();
    expect(await states(id)).toEqual(["80 cancelled"]);
  });

  test("Sends at once what was collected when the channel becomes immediate, and nothing before", async () => {
    const id = await channel();
    await raiseLevels("80");
    await change(id, { digest_time: "23:59" });
    await work();
    expect(receiver.received).toHaveLength(0);
    await change(id, { cadence: "immediate" });
    await work();
    await raiseLevels("100");
    await work();
    expect(bodies().map(({ type }) => type)).toEqual(["alert.digest", "alert.fired"]);
    expect((await stored(id)).next_digest_at).toBeNull();
  });

  test("Loses nothing that fires while the channel becomes immediate", async () => {
    const id = await channel();
    const other = await connect();
    await other.query("begin");
    await other.query("select private.raise_alerts($1)", [JSON.stringify([crossing(workspace)])]);
    const changed = change(id, { cadence: "immediate" });
    // The change waits for the transaction that collects.
    await vi.waitUntil(
      async () =>
        (
          await other.query(
            "select from pg_stat_activity where wait_event_type = 'Lock' and query like 'update public.alert_channels%'",
          )
        ).rowCount === 1,
      30_000,
    );
    await work();
    await other.query("commit");
    await changed;
    await other.end();
    await work();
    expect(bodies().map(({ type }) => type)).toEqual(["alert.digest"]);
  });
});

describe("The time of the next digest", () => {
  const next = async (after: string, zone: string, at: string, weekday: number | null = null) => {
    const { rows } = await fixtures.sql.query("select private.next_local_time($1, $2, $3, $4) as next", [
      after,
      zone,
      at,
      weekday,
    ]);
    return rows[0].next.toISOString();
  };

  test.each([
    ["Europe/Berlin", "09:00", "2026-03-28T08:00:00Z", "2026-03-29T07:00:00.000Z"],
    ["Europe/Berlin", "09:00", "2026-10-24T07:00:00Z", "2026-10-25T08:00:00.000Z"],
    ["America/New_York", "09:00", "2026-03-07T14:00:00Z", "2026-03-08T13:00:00.000Z"],
    ["America/New_York", "09:00", "2026-10-31T13:00:00Z", "2026-11-01T14:00:00.000Z"],
    ["Pacific/Auckland", "09:00", "2026-04-03T20:00:00Z", "2026-04-04T21:00:00.000Z"],
    ["Asia/Kolkata", "09:00", "2026-03-28T03:30:00Z", "2026-03-29T03:30:00.000Z"],
    // 02:30 is skipped, then shown twice.
    ["Europe/Berlin", "02:30", "2026-03-28T01:30:00Z", "2026-03-29T01:30:00.000Z"],
    ["Europe/Berlin", "02:30", "2026-10-24T00:30:00Z", "2026-10-25T01:30:00.000Z"],
    ["Europe/Berlin", "02:30", "2026-10-25T01:30:00Z", "2026-10-26T01:30:00.000Z"],
  ])("In %s at %s after %s is %s", async (zone, at, after, expected) => {
    expect(await next(after, zone, at)).toBe(expected);
  });

  test("Comes once on each local day of a year, also where clocks change, and once in each week", async () => {
    for (const zone of ["Europe/Berlin", "America/New_York", "Pacific/Auckland"]) {
      const { rows } = await fixtures.sql.query(
        `with recursive times as (
           select private.next_local_time('2026-01-01Z', $1, '02:30', null) as at
           union all
           select private.next_local_time(at, $1, '02:30', null) from times where at < '2027-01-01Z'
         )
         select count(*)::int as times, count(distinct (at at time zone $1)::date)::int as days,
           (max((at at time zone $1)::date) - min((at at time zone $1)::date) + 1) as span from times`,
        [zone],
      );
      expect(rows[0].times).toBe(rows[0].days);
      expect(rows[0].days).toBe(rows[0].span);
      expect(await next("2026-03-25T12:00:00Z", zone, "08:00", 1)).toMatch(/^2026-03-(29|30)/);
    }
  });
});
