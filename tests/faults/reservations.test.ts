import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { blockingBudgetsOf } from "@/tests/helpers/blocking-budgets";
import { type Answer, apiClient, costMessage } from "@/tests/helpers/client";
import { ledgerDifferences, withHarness } from "@/tests/helpers/harness";
import type { Service } from "@/tests/helpers/service";
import { makeTeam, type Team } from "@/tests/helpers/team";

// Callers that reserve before each call of a model, through two processes, of which one is killed under load.

const harness = withHarness({ services: 2 });
let team: Team;
const { create, read } = blockingBudgetsOf(() => team);

const callers = 64;
const calls = 800;
/** How many of the calls the budget has room for, at $0.01 each. */
const room = 400;
const kills = 3;

test("A budget is spent to the last call and by no call more, and nothing is held for ever, whatever is killed", async () => {
  team = await makeTeam(harness);
  const { id: budget } = await create({ amount: room / 100 });
  const { secret } = await harness.fixtures.key(team.workspace);
  const [first, second] = harness.services as [Service, Service];
  let killed = second;
  /** Asks until it is answered, as a caller does that retries with the same idempotency key. */
  const persist = async (caller: number, ask: (client: ReturnType<typeof apiClient>) => Promise<Answer>) => {
    for (;;) {
      const { baseUrl } = caller % 2 === 0 ? first : killed;
      const answer = await ask(apiClient(baseUrl, secret)).catch(() => undefined);
      if (answer && answer.status < 500) return answer;
    }
  };
  /** Calls of the model, by the reservation that admitted them. */
  const made = new Set<string>();
  const abandoned = new Set<string>();
  let next = 0;
  const call = async (caller: number) => {
    while (next < calls) {
      const number = next;
      next += 1;
      const message = costMessage({ estimated_cost: 0.01 });
      const reserving = { "idempotency-key": randomUUID() };
      const reserved = await persist(caller, (client) =>
        client.call(
          "POST",
          "/api/v1/reservations",
          { project: "checkout", message: message.message },
          reserving,
        ),
      );
      if (reserved.status === 402) continue;
      expect(reserved.status, JSON.stringify(reserved.body)).toBe(201);
      const reservation_id = String(reserved.body.id);
      expect(made.has(reservation_id) || abandoned.has(reservation_id)).toBe(false);
      // Some callers end before they call.
      if (number % 20 === 7) {
        abandoned.add(reservation_id);
        continue;
      }
      made.add(reservation_id);
      const recording = { ...message, reservation_id, idempotency_key: randomUUID() };
      const recorded = await persist(caller, (client) => client.post(recording));
      expect(recorded.status, JSON.stringify(recorded.body)).toBe(201);
    }
  };
  const load = Promise.all(Array.from({ length: callers }, (_, caller) => call(caller)));
  const chaos = async () => {
    for (let kill = 1; kill <= kills; kill += 1) {
      const successor = await harness.start();
      await expect.poll(() => next, { timeout: 120_000 }).toBeGreaterThan((calls / 2 / (kills + 1)) * kill);
      const ended = killed;
      killed = successor;
      await ended.kill();
    }
  };
  await Promise.all([load, chaos()]);

  expect(made.size + abandoned.size).toBe(room);
  expect(await read(budget)).toMatchObject({ spent: made.size / 100 });
  const heldOf = async () => {
    const { rows } = await harness.fixtures.sql.query(
      "select coalesce(sum(usd), 0)::float8 as usd from private.held_of_budgets(array[$1::uuid], clock_timestamp())",
      [team.workspace],
    );
    return rows[0].usd;
  };
  expect(await heldOf()).toBeCloseTo(abandoned.size / 100, 9);
  // What was abandoned is free at its end, although no process does anything.
  await harness.fixtures.sql.query(
    "update private.reservations set created_at = created_at - interval '2 hours', expires_at = expires_at - interval '2 hours' where workspace_id = $1",
    [team.workspace],
  );
  expect(await heldOf()).toBe(0);
  for (let left = abandoned.size; left >= 0; left -= 1) {
    const { status } = await apiClient(first.baseUrl, secret).post(costMessage({ estimated_cost: 0.01 }));
    expect(status).toBe(left === 0 ? 402 : 201);
  }
  expect(await ledgerDifferences(harness.fixtures, team.workspace)).toEqual([]);
});
