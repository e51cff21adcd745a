import { describe, expect, test, vi } from "vitest";
import {
  addChannel,
  crossing,
  deliveriesOf,
  passTheWait,
  type Receiver,
  raise,
  status,
} from "@/tests/helpers/alerts";
import { type OpenDeliveries, withDeliveries } from "@/tests/helpers/deliveries";
import { latestMail, mailsTo } from "@/tests/helpers/outbox";
import { createMember } from "@/tests/helpers/sql-user";

// What happens to deliveries whose receiver fails or hangs.

let fixtures: OpenDeliveries["fixtures"];
let workspace: string;
let receiver: Receiver;
let hanging: Receiver;
let pump: OpenDeliveries["pump"];

const { work, raiseLevels, stored, states } = withDeliveries((open) => {
  ({ fixtures, workspace, receiver, hanging, pump } = open);
});

const channel = (columns: Record<string, unknown> = {}) =>
  addChannel(fixtures, workspace, { address: "https://receiver.example/hooks/T0PSECRET", ...columns });
const levels = (received: Receiver["received"]) => received.map(({ body }) => JSON.parse(body).data.level);

describe("A receiver that fails", () => {
  test("Gets everything in order when it is back after two days, each under the id of its first attempt", async () => {
    receiver.answer = status(500);
    const id = await channel();
    await raiseLevels("50", "80");
    await work();
    await fixtures.sql.query(
      `update public.deliveries set created_at = created_at - interval '2 days',
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
    /** How long the wait is at least and at most, seconds: the attempt began after `from` and had ended before the question. */
    const wait = async () => {
      const from = new Date();
      await work();
      const { rows } = await fixtures.sql.query(
        `select extract(epoch from next_attempt_at - $2)::float8 as most,
           extract(epoch from next_attempt_at - clock_timestamp())::float8 as least, attempts
         from public.deliveries where channel_id = $1`,
        [id, from],
      );
      await passTheWait(fixtures, id);
      return rows[0];
    };
    const asked = await wait();
    expect(asked.most).toBeGreaterThan(119);
    expect(asked.least).toBeLessThan(121);
    receiver.answer = status(500);
    const waits = [await wait(), await wait(), await wait()];
    expect(waits.map(({ attempts }) => attempts)).toEqual([2, 3, 4]);
    expect(waits[0].most).toBeGreaterThan(11);
    expect(waits[0].least).toBeLessThan(19);
    expect(waits[2].most).toBeGreaterThan(100);
    expect(waits[2].least).toBeLessThan(170);
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
      `update public.deliveries as d set give_up_at = now() where channel_id = $1
         and number = (select min(number) from public.deliveries where channel_id = $1)`,
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
    const failFor = async (duration: string) => {
      await fixtures.sql.query(
        "update public.alert_channels set failing_since = now() - $2::interval where id = $1",
        [id, duration],
      );
      await passTheWait(fixtures, id);
      await work();
    };
    await failFor("23 hours 59 minutes");
    expect(await stored(id)).toMatchObject({ disabled_at: null });
    await failFor("1 day");
    expect(await stored(id)).toMatchObject({ disabled_at: expect.any(Date), disabled_reason: "failing" });
    const asked = receiver.received.length;
    await raiseLevels("80");
    await passTheWait(fixtures, id);
    await work();
    expect(receiver.received).toHaveLength(asked);
    expect(await states(id)).toEqual(["50 pending", "80 pending"]);
    await work();
    expect(await mailsTo(owner)).toHaveLength(1);
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
      expect(error).toMatch(/^The (receiver answered 500|host closed the connection before it answered)\.$/);
    }
  });

  /** Adds a user with a role to the workspace. @returns their address */
  const member = async (role: string) => (await createMember(fixtures, workspace, role)).email;
});

describe("A receiver that hangs", () => {
  test("Delays no other, however many deliveries it has", async () => {
    // More than are sent at once, and few enough that a busy machine sends them before the first attempt that hangs has ended.
    const count = 80;
    const stuck = await channel({ address: "https://hanging.example/", target: "hanging.example" });
    const id = await channel();
    await raise(
      fixtures,
      ...Array.from({ length: count }, (_, index) => crossing(workspace, { subject_id: `b${index}` })),
    );
    await pump.look();
    await vi.waitUntil(
      async () => (await deliveriesOf(fixtures, id)).every(({ state }) => state === "delivered"),
      { timeout: 14_000, interval: 50 },
    );
    expect(receiver.received).toHaveLength(count);
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
