import { Webhook } from "standardwebhooks";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { attempt } from "@/lib/alerts/delivery/attempt";
import { sweepAlerts } from "@/lib/alerts/delivery/jobs";
import { tellOwners } from "@/lib/alerts/delivery/notices";
import { DeliveryPump } from "@/lib/alerts/delivery/pump";
import { claimDeliveries, finishDelivery } from "@/lib/alerts/delivery/queries";
import { closeDatabase, configureDatabase } from "@/lib/db/pool";
import {
  addChannel,
  crossing,
  deliveriesOf,
  openReceiver,
  outsideWorld,
  passTheWait,
  type Receiver,
  raise,
  signingSecret,
  status,
} from "@/tests/helpers/alerts";
import type { TestDatabase } from "@/tests/helpers/database";
import type { Fixtures } from "@/tests/helpers/keys";
import { latestMail } from "@/tests/helpers/outbox";
import { createMember } from "@/tests/helpers/sql-user";
import { withDatabase } from "@/tests/helpers/with-database";

// The queue of deliveries, worked by the code of the service on a real database, with receivers of the test's own.

let database: TestDatabase;
let fixtures: Fixtures;
let workspace: string;
let receiver: Receiver;
let hanging: Receiver;
let world: ReturnType<typeof outsideWorld>;
let pump: DeliveryPump;

withDatabase((open) => {
  ({ database, fixtures } = open);
});
beforeAll(() => {
  configureDatabase(database);
  return closeDatabase;
});
beforeEach(async () => {
  workspace = await fixtures.workspace();
  [receiver, hanging] = await Promise.all([openReceiver(), openReceiver()]);
  hanging.answer = () => {};
  world = outsideWorld({ "receiver.example": receiver, "hanging.example": hanging });
  pump = new DeliveryPump((delivery) => attempt(delivery, world));
});
afterEach(async () => {
  await Promise.all([receiver.close(), hanging.close()]);
  await pump.close();
  await fixtures.sql.query("delete from public.workspaces where id = $1", [workspace]);
});

const address = "https://receiver.example/hooks/T0PSECRET";
const channel = (columns: Record<string, unknown> = {}) =>
  addChannel(fixtures, workspace, { address, ...columns });

/** Sends what is due until nothing is. */
async function work(): Promise<void> {
  await pump.look();
  await pump.drain();
}

const states = async (id: string) =>
  (await deliveriesOf(fixtures, id)).map(({ level, state }) => `${level} ${state}`);
const stored = async (id: string) =>
  (await fixtures.sql.query("select * from public.alert_channels where id = $1", [id])).rows[0];
const levels = (received: Receiver["received"]) => received.map(({ body }) => JSON.parse(body).data.level);
const raiseLevels = (...all: string[]) =>
  raise(fixtures, ...all.map((level) => crossing(workspace, { level })));

describe("A webhook", () => {
  test("Arrives with its figures, links and a signature that Standard Webhooks verify", async () => {
    const id = await channel();
    await raiseLevels("80");
    await work();
    const [{ headers, body, path }] = receiver.received as [Receiver["received"][0]];
    const payload = new Webhook(signingSecret).verify(body, headers) as Record<string, unknown>;
    const [delivery] = await deliveriesOf(fixtures, id);
    expect(path).toBe("/hooks/T0PSECRET");
    expect(headers["webhook-id"]).toBe(delivery.id);
    expect(payload).toMatchObject({
      type: "alert.fired",
      data: {
        rule: "budget_threshold",
        level: "80",
        subject: { type: "budget", name: "Everything" },
        period: { from: "2026-11-01", until: "2026-12-01" },
        figures: { scope_type: "global", scope_value: null, amount_usd: "100", spent_usd: "80.01" },
        url: expect.stringContaining("/budgets#budget-0193a0f7"),
        activity_url: expect.stringContaining("from=2026-11-01&to=2026-11-30"),
      },
    });
    expect(delivery).toMatchObject({ state: "delivered", attempts: 1, last_status: 204, lease: null });
  });

  test("Is signed by the old and the new secret while one is being rotated, and by the new one after that", async () => {
    const id = await channel();
    const next = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
    await fixtures.sql.query(
      `update private.channel_secrets set old_signing_secret = signing_secret, signing_secret = $2,
         old_ends_at = now() + interval '1 day' where channel_id = $1`,
      [id, next],
    );
    await raiseLevels("80");
    await work();
    await fixtures.sql.query("update private.channel_secrets set old_ends_at = now() where channel_id = $1", [
      id,
    ]);
    await raiseLevels("100");
    await work();
    const verifies = (secret: string) =>
      receiver.received.map(({ body, headers }) => {
        try {
          new Webhook(secret).verify(body, headers);
          return true;
        } catch {
          return false;
        }
      });
    expect([verifies(signingSecret), verifies(next)]).toEqual([
      [true, false],
      [true, true],
    ]);
  });
});

describe("A receiver that fails", () => {
  test("Gets everything in order when it is back after two days, each under the id of its first attempt", async () => {
    receiver.answer = status(500);
    const id = await channel();
    await raiseLevels("50", "80");
    await work();
    await fixtures.sql.query(
      `update public.alert_deliveries set created_at = created_at - interval '2 days',
         give_up_at = give_up_at - interval '2 days' where channel_id = $1`,
      [id],
    );
    await raiseLevels("100");
    await passTheWait(fixtures, id);
    await work();
    const tried = receiver.received.length;
    expect(levels(receiver.received)).toEqual(["50", "50"]);
    receiver.answer = status(200);
    await passTheWait(fixtures, id);
    await work();
    expect(levels(receiver.received.slice(tried))).toEqual(["50", "80", "100"]);
    expect(new Set(receiver.received.map((each) => each.id)).size).toBe(3);
    expect(await states(id)).toEqual(["50 delivered", "80 delivered", "100 delivered"]);
    expect(await stored(id)).toMatchObject({ failing_since: null, disabled_at: null });
  });

  test("Is tried again later and later, and no sooner than it asks", async () => {
    receiver.answer = status(503, { "retry-after": "120" });
    const id = await channel();
    await raiseLevels("80");
    const wait = async () => {
      await work();
      const { rows } = await fixtures.sql.query(
        "select extract(epoch from next_attempt_at - now())::float8 as s, attempts from public.alert_deliveries where channel_id = $1",
        [id],
      );
      await passTheWait(fixtures, id);
      return rows[0];
    };
    expect((await wait()).s).toBeGreaterThan(110);
    receiver.answer = status(500);
    const waits = [await wait(), await wait(), await wait()];
    expect(waits.map(({ attempts }) => attempts)).toEqual([2, 3, 4]);
    expect(waits[0].s).toBeGreaterThan(8);
    expect(waits[0].s).toBeLessThan(20);
    expect(waits[2].s).toBeGreaterThan(90);
    expect(waits[2].s).toBeLessThan(180);
  });

  test("Holds back only what is of the same rule and subject", async () => {
    const id = await channel();
    receiver.answer = (_, response) =>
      void response.writeHead(receiver.received.at(-1)?.body.includes("Stuck") ? 500 : 200).end();
    const stuck = { subject_id: "stuck", details: { budget: "Stuck" } };
    await raise(
      fixtures,
      crossing(workspace, { level: "50", ...stuck }),
      crossing(workspace, { level: "80", ...stuck }),
      crossing(workspace, { level: "50", subject_id: "other" }),
      crossing(workspace, { level: "80", subject_id: "other" }),
    );
    await work();
    expect(await states(id)).toEqual(["50 pending", "80 pending", "50 delivered", "80 delivered"]);
    expect(receiver.received.filter(({ body }) => body.includes("Stuck"))).toHaveLength(1);
  });

  test("Is given up after three days, and what it held back is sent", async () => {
    const id = await channel();
    receiver.answer = status(500);
    await raiseLevels("50", "80");
    await work();
    await fixtures.sql.query(
      `update public.alert_deliveries as d set give_up_at = now() where channel_id = $1
         and number = (select min(number) from public.alert_deliveries where channel_id = $1)`,
      [id],
    );
    await passTheWait(fixtures, id);
    receiver.answer = (_, response) =>
      void response.writeHead(levels(receiver.received).at(-1) === "50" ? 500 : 200).end();
    await work();
    expect(await states(id)).toEqual(["50 dead", "80 delivered"]);
    const [dead] = await deliveriesOf(fixtures, id);
    expect(dead).toMatchObject({ last_status: 500, last_error: "The receiver answered 500." });
  });

  test("Is disabled after a day of failures, keeps its queue, and its workspace's owners are told once", async () => {
    const owner = await member("owner");
    await member("admin");
    const id = await channel();
    receiver.answer = status(500);
    await raiseLevels("50");
    await work();
    expect(await stored(id)).toMatchObject({ failing_since: expect.any(Date), disabled_at: null });
    await fixtures.sql.query(
      "update public.alert_channels set failing_since = now() - interval '1 day' where id = $1",
      [id],
    );
    await passTheWait(fixtures, id);
    await work();
    expect(await stored(id)).toMatchObject({ disabled_at: expect.any(Date), disabled_reason: "failing" });
    const asked = receiver.received.length;
    await raiseLevels("80");
    await passTheWait(fixtures, id);
    await work();
    expect(receiver.received).toHaveLength(asked);
    expect(await states(id)).toEqual(["50 pending", "80 pending"]);
    expect([await tellOwners(), await tellOwners()]).toEqual([1, 0]);
    expect(await latestMail(owner)).toMatchObject({
      subject: "The alert channel Ours was turned off",
      body: expect.stringContaining("Nothing could be delivered to it for a day."),
    });
  });

  test("Wants no more where it answers 410: the channel is off, and nothing is left in its queue", async () => {
    const owner = await member("owner");
    const id = await channel();
    receiver.answer = status(410);
    await raiseLevels("50", "80");
    await work();
    expect(receiver.received).toHaveLength(1);
    expect(await states(id)).toEqual(["50 dead", "80 dead"]);
    expect(await stored(id)).toMatchObject({ disabled_reason: "gone" });
    await tellOwners();
    expect((await latestMail(owner)).body).toContain("answered 410");
  });

  test("Leaves nothing of its answer, its address or its secret in the log", async () => {
    const id = await channel();
    for (const answer of [status(500), (request) => void request.socket.destroy()] as Receiver["answer"][]) {
      receiver.answer = answer;
      await passTheWait(fixtures, id);
      await raiseLevels("50");
      await work();
      const [{ last_error: error }] = await deliveriesOf(fixtures, id);
      expect(error).toMatch(/^The receiver (answered 500|closed the connection before it answered)\.$/);
    }
  });

  /** Adds a user with a role to the workspace. @returns their address */
  const member = async (role: string) =>
    `${await createMember({ database, fixtures }, workspace, role)}@example.com`;
});

describe("A receiver that hangs", () => {
  test("Delays no other, however many deliveries it has", async () => {
    const stuck = await channel({ address: "https://hanging.example/", target: "hanging.example" });
    const id = await channel();
    await raise(
      fixtures,
      ...Array.from({ length: 200 }, (_, index) => crossing(workspace, { subject_id: `b${index}` })),
    );
    await pump.look();
    await vi.waitUntil(
      async () => (await deliveriesOf(fixtures, id)).every(({ state }) => state === "delivered"),
      { timeout: 12_000, interval: 50 },
    );
    expect(receiver.received).toHaveLength(200);
    expect(hanging.received.length).toBeLessThanOrEqual(4);
    const waiting = await deliveriesOf(fixtures, stuck);
    expect(waiting.every(({ state }) => state === "pending")).toBe(true);
  });

  test("Is left after 15 seconds", async () => {
    const id = await channel({ address: "https://hanging.example/", target: "hanging.example" });
    await raiseLevels("80");
    const beganMs = performance.now();
    await work();
    expect(performance.now() - beganMs).toBeGreaterThan(14_000);
    expect(await deliveriesOf(fixtures, id)).toMatchObject([
      { state: "pending", last_status: null, last_error: "There was no answer within 15 seconds." },
    ]);
  });
});

describe("An internal address", () => {
  test.each(["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "fd00::1", "::ffff:127.0.0.1"])(
    "Is refused at any attempt at which the host resolves to it: %s",
    async (inside) => {
      const id = await channel();
      receiver.answer = status(500);
      await raiseLevels("80");
      await work();
      expect(receiver.received).toHaveLength(1);
      world.resolve = async () => [inside];
      await passTheWait(fixtures, id);
      await work();
      world.resolve = async () => ["93.184.215.14", inside];
      await passTheWait(fixtures, id);
      await work();
      expect([receiver.received.length, world.asked.length]).toEqual([1, 1]);
      const [{ last_error: error, attempts }] = await deliveriesOf(fixtures, id);
      expect([attempts, error]).toEqual([3, expect.stringContaining("an address that is not public")]);
      expect(error).not.toContain(inside);
    },
  );

  test("Is not reached by a redirect", async () => {
    const id = await channel();
    receiver.answer = (_, response) =>
      void response.writeHead(307, { location: "http://127.0.0.1:1/internal" }).end();
    await raiseLevels("80");
    await work();
    expect(world.asked).toEqual(["receiver.example"]);
    expect(await deliveriesOf(fixtures, id)).toMatchObject([
      {
        state: "pending",
        last_status: 307,
        last_error: expect.stringContaining("a redirect, which is not followed"),
      },
    ]);
  });
});

describe("The queue", () => {
  const places = { all: 64, failing: 32, channel: 4 };

  test("Gives a delivery to one process at a time, and again when the lease of a process that was killed ends", async () => {
    const id = await channel();
    await raiseLevels("80");
    const claims = await Promise.all([claimDeliveries(places, 40), claimDeliveries(places, 40)]);
    expect(claims.flat()).toHaveLength(1);
    await fixtures.sql.query(
      "update public.alert_deliveries set leased_until = now() where channel_id = $1",
      [id],
    );
    const [again] = await claimDeliveries(places, 40);
    const [first] = claims.flat();
    expect([again?.id, again?.attempts]).toEqual([first?.id, 2]);
    const ended = { outcome: "delivered", status: 204, error: null, retry_in_ms: 0 } as const;
    const finish = (claimed: typeof first) =>
      claimed && finishDelivery({ workspace_id: workspace, id: claimed.id, lease: claimed.lease, ...ended });
    expect([await finish(first), await finish(again), await finish(again)]).toEqual([
      null,
      "delivered",
      null,
    ]);
  });

  test("Gives channels that fail one place each, and the others four", async () => {
    await channel();
    await channel({ failing_since: new Date() });
    await raise(
      fixtures,
      ...Array.from({ length: 10 }, (_, index) => crossing(workspace, { subject_id: `b${index}` })),
    );
    const claimed = [...(await claimDeliveries(places, 40)), ...(await claimDeliveries(places, 40))];
    expect(claimed.filter(({ channel: each }) => each.is_failing)).toHaveLength(1);
    expect(claimed.filter(({ channel: each }) => !each.is_failing)).toHaveLength(4);
  });

  test("Is swept: the log after 30 days, and what nobody will send", async () => {
    const kept = await channel();
    const off = await channel({ disabled_at: new Date(), disabled_reason: "failing" });
    const gone = await channel();
    await raiseLevels("50");
    await fixtures.sql.query("delete from public.alert_channels where id = $1", [gone]);
    await work();
    await fixtures.sql.query(
      "update public.alert_deliveries set give_up_at = now() - interval '1 second' where channel_id = $1",
      [off],
    );
    await sweepAlerts();
    expect([await states(kept), await states(off), await states(gone)]).toEqual([
      ["50 delivered"],
      ["50 dead"],
      ["50 cancelled"],
    ]);
    await fixtures.sql.query(
      "update public.alert_deliveries set created_at = now() - interval '30 days' where workspace_id = $1",
      [workspace],
    );
    await sweepAlerts();
    expect([await states(kept), await states(off), await states(gone)]).toEqual([[], [], []]);
  });
});
