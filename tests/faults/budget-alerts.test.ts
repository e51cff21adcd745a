import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { addChannel, openReceiver, type Receiver, signingSecret } from "@/tests/helpers/alerts";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { ledgerDifferences, withHarness } from "@/tests/helpers/harness";
import type { Service } from "@/tests/helpers/service";

const harness = withHarness({ services: 0, settings: { ALERT_ALLOWED_HOSTS: "127.0.0.1" } });

let receiver: Receiver;
beforeAll(async () => {
  receiver = await openReceiver();
});
afterAll(() => receiver.close());

const calls = 100;
const messagesOfCall = 100;
const levels = ["25", "50", "75", "100"];

test("10,000 messages over four thresholds from two processes that are killed four times: each alert is recorded once and delivered in order", async () => {
  const workspace = await harness.fixtures.workspace();
  const { secret } = await harness.fixtures.key(workspace);
  const channel = await addChannel(harness.fixtures, workspace, {
    address: receiver.url,
    target: "127.0.0.1",
  });
  receiver.answer = (_, response) => void response.writeHead(204).end();
  const { rows: budgets } = await harness.fixtures.sql.query(
    `insert into public.budgets (workspace_id, name, scope_type, scope_value, amount, alert_percents, blocks)
     values ($1, 'All', 'global', null, 100, '{25,50,75,100}', true),
       ($1, 'Chat', 'feature', 'chat', 100, '{25,50,75,100}', false)
     returning id`,
    [workspace],
  );
  const services: Service[] = await Promise.all([harness.start(), harness.start()]);
  const bodies = Array.from({ length: calls }, (_, call) => ({
    messages: Array.from({ length: messagesOfCall }, (_, index) =>
      costMessage({ feature: "chat" }, { idempotency_key: `${call} ${index}` }),
    ),
  }));
  let done = 0;
  /** Sends calls until none is left; a call that got no answer is sent again to the process that runs then. */
  const send = async (process: number) => {
    for (let body = bodies.pop(); body; body = bodies.pop()) {
      for (;;) {
        const client = apiClient(services[process]?.baseUrl ?? "", secret);
        const answer = await client.call("POST", "/api/v1/messages/batch", body).catch(() => undefined);
        if (answer?.body.refused === 0) break;
        if (answer && answer.status < 500) throw new Error(JSON.stringify(answer.body));
        await new Promise((resolve) => setImmediate(resolve));
      }
      done += 1;
    }
  };
  const sending = Promise.all([send(0), send(1), send(0), send(1)]);
  for (let kill = 1; kill <= 4; kill += 1) {
    await vi.waitUntil(() => done >= kill * 20, { timeout: 60_000, interval: 5 });
    const process = kill % 2;
    await services[process]?.kill();
    services[process] = await harness.start();
    await harness.fixtures.sql.query(
      "update public.deliveries set leased_until = now() where lease is not null",
    );
  }
  await sending;

  const { rows: spent } = await harness.fixtures.sql.query(
    "select distinct trim_scale(spent_usd)::text as spent from public.budget_spend where workspace_id = $1",
    [workspace],
  );
  expect(spent).toEqual([{ spent: "100" }]);
  const { rows: recorded } = await harness.fixtures.sql.query(
    `select array_agg(level order by number) as levels from public.alerts
     where workspace_id = $1 and rule = 'budget_threshold' group by subject_id`,
    [workspace],
  );
  expect(recorded).toEqual([{ levels }, { levels }]);

  const open = async () => {
    const { rows } = await harness.fixtures.sql.query(
      "select count(*)::int as open from public.deliveries where channel_id = $1 and state <> 'delivered'",
      [channel],
    );
    return rows[0].open;
  };
  await vi.waitUntil(async () => (await open()) === 0, { timeout: 50_000, interval: 100 });
  const known = new Set<string>();
  const told = new Map<string, string[]>();
  for (const { id, body, headers } of receiver.received) {
    new Webhook(signingSecret).verify(body, headers);
    if (known.has(id)) continue;
    known.add(id);
    const { data } = JSON.parse(body);
    if (data.rule !== "budget_threshold") continue;
    told.set(data.subject.id, [...(told.get(data.subject.id) ?? []), data.level]);
  }
  expect(Object.fromEntries(told)).toEqual(Object.fromEntries(budgets.map(({ id }) => [id, levels])));
  expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
}, 240_000);
