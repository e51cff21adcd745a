import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import {
  addChannel,
  crossing,
  deliveriesOf,
  openReceiver,
  type Receiver,
  raise,
  signingSecret,
} from "@/tests/helpers/alerts";
import { withHarness } from "@/tests/helpers/harness";
import type { Service } from "@/tests/helpers/service";

const harness = withHarness({ services: 0, settings: { ALERT_ALLOWED_HOSTS: "127.0.0.1" } });

let receiver: Receiver;
beforeAll(async () => {
  receiver = await openReceiver();
});
afterAll(() => receiver.close());

/** Waits until the receiver has this many requests, of which the last is not answered. */
const reached = (count: number) =>
  vi.waitUntil(() => receiver.received.length >= count, { timeout: 20_000, interval: 10 });

/** Ends the leases of processes that were killed, as if their time had passed. */
const endLeases = () =>
  harness.fixtures.sql.query("update public.deliveries set leased_until = now() where lease is not null");

test("Delivers each alert at least once and in order from two processes that are killed four times", async () => {
  const workspace = await harness.fixtures.workspace();
  const channel = await addChannel(harness.fixtures, workspace, {
    address: receiver.url,
    target: "127.0.0.1",
  });
  const budgets = Array.from({ length: 12 }, (_, index) => `b${index}`);
  const levels = ["50", "80", "100", "120"];
  let services: Service[] = await Promise.all([harness.start(), harness.start()]);
  // Answers slowly, so that a killed process leaves deliveries that arrived and were not recorded.
  receiver.answer = (_, response) => void setTimeout(() => response.writeHead(204).end(), 20);
  for (let kills = 0; kills < 4; kills += 1) {
    const part = budgets.slice(kills * 3, kills * 3 + 3);
    for (const level of levels) {
      await raise(harness.fixtures, ...part.map((subject_id) => crossing(workspace, { level, subject_id })));
    }
    await reached(receiver.received.length + 1);
    const [killed, other] = services as [Service, Service];
    await killed.kill();
    await endLeases();
    services = [other, await harness.start()];
  }
  await vi.waitUntil(
    async () => {
      const { rows } = await harness.fixtures.sql.query(
        "select count(*)::int as open from public.deliveries where state <> 'delivered' and channel_id = $1",
        [channel],
      );
      return rows[0].open === 0;
    },
    { timeout: 50_000, interval: 100 },
  );
  const known = new Set<string>();
  const told = new Map<string, string[]>();
  for (const { id, body, headers } of receiver.received) {
    new Webhook(signingSecret).verify(body, headers);
    if (known.has(id)) continue;
    known.add(id);
    const { subject, level } = JSON.parse(body).data;
    told.set(subject.id, [...(told.get(subject.id) ?? []), level]);
  }
  expect(known.size).toBe(budgets.length * levels.length);
  expect([...told.keys()].sort()).toEqual([...budgets].sort());
  for (const [budget, order] of told) expect(order, budget).toEqual(levels);
  expect(await deliveriesOf(harness.fixtures, channel)).toHaveLength(budgets.length * levels.length);
}, 240_000);

test("Ends what it is sending before it stops, and begins nothing more", async () => {
  const workspace = await harness.fixtures.workspace();
  const channel = await addChannel(harness.fixtures, workspace, {
    address: receiver.url,
    target: "127.0.0.1",
  });
  await Promise.all(harness.services.map((service) => service.stop()));
  let answerIt = () => {};
  receiver.answer = (_, response) => {
    answerIt = () => void response.writeHead(204).end();
  };
  const before = receiver.received.length;
  const service = await harness.start();
  await raise(harness.fixtures, ...["50", "80"].map((level) => crossing(workspace, { level })));
  await reached(before + 1);
  const stopped = service.stop();
  setTimeout(answerIt, 500);
  expect(await stopped).toBe(0);
  expect(receiver.received).toHaveLength(before + 1);
  expect((await deliveriesOf(harness.fixtures, channel)).map(({ state }) => state)).toEqual([
    "delivered",
    "pending",
  ]);
});
