import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { beforeEach, expect, test } from "vitest";
import { blockingBudgetsOf } from "@/tests/helpers/blocking-budgets";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { reservationsOf } from "@/tests/helpers/reservations";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam, type Team } from "@/tests/helpers/team";

// Reservations hold money before a call of a model is made, so that a limit stops the spending itself.

const harness = withSharedHarness({ services: 2 });

let team: Team;
beforeEach(async () => {
  team = await makeTeam(harness);
});

const { create, read } = blockingBudgetsOf(() => team);

const { holder, end } = reservationsOf(harness, () => team);

test.each([1, 2, 3])(
  "Admits exactly what a budget and a key's limit have left, of 64 callers in two processes (round %i)",
  async () => {
    const { id } = await create({ amount: 0.3 });
    const holders = await Promise.all(Array.from({ length: 4 }, () => holder({ monthly_limit: "0.1" })));
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, index) => holders[index % 4]?.reserve(0.01, { process: index % 2 })),
    );
    expect(answers.filter((answer) => answer?.status === 201)).toHaveLength(30);
    expect(new Set(answers.map((answer) => answer?.status))).toEqual(new Set([201, 402]));
    const recorded = await Promise.all(
      answers.map((answer, index) =>
        answer?.status === 201
          ? holders[index % 4]?.record(0.01, String(answer.body.id), { process: (index + 1) % 2 })
          : null,
      ),
    );
    expect(recorded.filter((answer) => answer?.status === 201)).toHaveLength(30);
    expect(await read(id)).toMatchObject({ spent: 0.3, remaining: 0 });
    expect(await ledgerDifferences(harness.fixtures, team.workspace)).toEqual([]);
  },
);

test("Shows members what is held of each budget that counts it, as long as it is held", async () => {
  const everything = await create({ name: "Everything", amount: 10 });
  const other = await create({ name: "Other", scope_type: "feature", scope_value: "other", amount: 10 });
  const key = await holder();
  const [first, second] = [await key.reserve(4), await key.reserve(0.5)];
  const listed = await team.users.viewer.get(`${team.path}/budgets`);
  expect(listed.body.budgets).toMatchObject([
    { name: "Everything", spent: 0, held_usd: 4.5, remaining: 10 },
    { name: "Other", held_usd: 0 },
  ]);
  expect((await key.record(3, String(first.body.id))).status).toBe(201);
  expect(await read(everything.id)).toMatchObject({ spent: 3, held_usd: 0.5, remaining: 7 });
  await end(second.body.id);
  expect(await read(everything.id)).toMatchObject({ spent: 3, held_usd: 0 });
  expect(await read(other.id)).toMatchObject({ held_usd: 0 });
});

test("Counts what is held against the key and its budgets, for messages too, and says what is left and when it resets", async () => {
  await create({ name: "Everything", amount: 10 });
  const key = await holder({ monthly_limit: "5" });
  const held = await key.reserve(4);
  expect(held).toMatchObject({ status: 201, body: { state: "held", held_usd: 4, message_id: null } });
  expect(await key.limits()).toMatchObject({
    key: { monthly_limit: { spent_usd: 0, held_usd: 4, remaining_usd: 1 } },
    budgets: [{ name: "Everything", spent_usd: 0, held_usd: 4, remaining_usd: 6 }],
  });
  for (const refused of [await key.reserve(2), await key.record(2)])
    expect(refused).toMatchObject({
      status: 402,
      body: {
        error: "monthly_limit_exceeded",
        limit_usd: 5,
        spent_usd: 0,
        held_usd: 4,
        remaining_usd: 1,
        resets_at: expect.any(String),
      },
    });
  const other = await holder();
  expect(await other.reserve(7)).toMatchObject({
    status: 402,
    body: {
      error: "budget_exceeded",
      limit_usd: 10,
      spent_usd: 0,
      held_usd: 4,
      remaining_usd: 6,
      budget: { name: "Everything" },
    },
  });
  expect((await other.reserve(6)).status).toBe(201);
  expect((await key.record(1)).status).toBe(402);
});

test("Prices input tokens and the most output tokens by the catalogue, and wants an amount where there is no price", async () => {
  const key = await holder();
  const lines = [
    { unit_type: "input_tokens", quantity: 1_000_000 },
    { unit_type: "output_tokens", quantity: 1_000_000 },
  ];
  const tokens = {
    model: "gpt-4o",
    lines,
    unit_type: undefined,
    quantity: undefined,
    estimated_cost: undefined,
  };
  expect((await key.reserve(0, { message: tokens })).body).toMatchObject({ held_usd: 12.5 });
  expect(await key.reserve(0, { message: { ...tokens, model: "no-such-model" } })).toMatchObject({
    status: 400,
    body: { error: "validation_failed", issues: [{ path: "message.estimated_cost" }] },
  });
});

test("Settles for less, and for more, which it says; the rest is free again", async () => {
  const { id } = await create({ amount: 10 });
  const key = await holder({ monthly_limit: "10" });
  const [less, more] = [await key.reserve(4), await key.reserve(6)];
  expect(await key.record(1, String(less.body.id))).toMatchObject({
    status: 201,
    body: { reservation: { id: less.body.id, state: "settled", held_usd: 4 } },
  });
  expect((await key.reserve(3)).status).toBe(201);
  // The budget has no room for the 2 that it costs more; the call has been made.
  expect(await key.record(8, String(more.body.id))).toMatchObject({
    status: 201,
    body: { reservation: { state: "settled", held_usd: 6, over_usd: 2 } },
  });
  expect(await read(id)).toMatchObject({ spent: 9 });
  expect((await key.read(more.body.id)).body).toMatchObject({
    state: "settled",
    settled_usd: 8,
    message_id: expect.any(String),
  });
});

test("Is no way past the limits: beyond twice what was held, they decide, and what they refuse is kept", async () => {
  const { id } = await create({ amount: 1 });
  const key = await holder();
  const held = await key.reserve(0.01);
  expect((await key.record(1_000_000, String(held.body.id))).status).toBe(402);
  expect(await read(id)).toMatchObject({ spent: 0, refused_usd: 1_000_000 });
  expect((await key.record(0.02, String(held.body.id))).status).toBe(201);
  // A budget that did not count what was held is not passed by it.
  expect((await key.record(0, undefined, { project: "search" })).status).toBe(201);
  await create({ scope_type: "project", scope_value: "search", amount: 0.01, name: "Search" });
  const other = await key.reserve(0.5);
  expect(await key.record(0.02, String(other.body.id), { project: "search" })).toMatchObject({
    status: 402,
    body: { budget: { name: "Search" } },
  });
});

test("Is settled once, and by its own key alone", async () => {
  const [key, other] = [await holder({ monthly_limit: "2" }), await holder({ monthly_limit: "1" })];
  const { body } = await key.reserve(2);
  expect((await other.record(2, String(body.id))).status).toBe(402);
  expect(await other.record(1, String(body.id))).toMatchObject({
    status: 201,
    body: { reservation: { state: "unknown" } },
  });
  expect((await other.release(body.id)).status).toBe(404);
  expect((await other.read(body.id)).status).toBe(404);
  const both = await Promise.all([0, 1].map((process) => key.record(2, String(body.id), { process })));
  expect(both.map(({ status }) => status).sort()).toEqual([201, 402]);
  expect((await key.limits()).key.monthly_limit).toMatchObject({ spent_usd: 2, held_usd: 0 });
});

test("Answers a retry as the first time, with one hold, and refuses another request with the same key", async () => {
  const key = await holder({ monthly_limit: "1" });
  const name = randomUUID();
  const answers = await Promise.all([0, 1, 0, 1].map((process) => key.reserve(0.6, { process, key: name })));
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  expect((await key.reserve(0.7, { key: name })).body).toMatchObject({ error: "idempotency_conflict" });
  const message = { key: randomUUID() };
  const first = await key.record(0.5, String(answers[0]?.body.id), message);
  expect((await key.record(0.5, String(answers[0]?.body.id), message)).body).toEqual(first.body);
  expect((await key.limits()).key.monthly_limit).toMatchObject({ spent_usd: 0.5, held_usd: 0 });
});

test("Is released by DELETE, by its end without any job, and with its key", async () => {
  await create({ amount: 1 });
  const [key, other] = [await holder(), await holder()];
  const deleted = await key.reserve(1);
  expect((await other.reserve(1)).status).toBe(402);
  expect((await key.release(deleted.body.id, 1)).body).toMatchObject({ state: "released" });
  expect((await key.release(deleted.body.id)).body).toMatchObject({ state: "released" });
  const ended = await other.reserve(1);
  expect((await key.reserve(1)).status).toBe(402);
  await end(ended.body.id);
  const last = await key.reserve(1);
  expect(last.status).toBe(201);
  expect((await other.read(ended.body.id)).body).toMatchObject({ state: "expired" });
  // The call was made after the end: it is decided like any other, and what is refused is kept.
  expect((await other.record(1, String(ended.body.id))).status).toBe(402);
  await harness.fixtures.sql.query("update public.api_keys set revoked_at = now() where id = $1", [key.id]);
  expect(await other.record(1, String(ended.body.id))).toMatchObject({
    status: 201,
    body: { reservation: { state: "expired" } },
  });
});

test("Needs what recording needs, and a key holds at most 1,000", async () => {
  const confined = await holder({ permissions: ["log_usage"], conditions: { features: ["chat"] } });
  expect((await confined.reserve(1)).body).toMatchObject({ error: "feature_not_allowed" });
  expect((await (await holder({ permissions: ["read_summaries"] })).reserve(1)).status).toBe(403);
  const key = await holder();
  await harness.fixtures.sql.query(
    `insert into private.reservations (workspace_id, id, environment, api_key_id, amount_usd, project, provider, created_at, expires_at, request)
     select $1, gen_random_uuid(), 'live', $2, 0.01, 'checkout', 'openai', now(), now() + interval '1 hour', '{}' from generate_series(1, 1000)`,
    [team.workspace, key.id],
  );
  expect((await key.reserve(0.01)).body).toMatchObject({ error: "conflict" });
  expect((await (await holder()).reserve(0.01)).status).toBe(201);
});

test("Never spends and holds more than the limit, whatever is reserved, settled, released and recorded", async () => {
  const step = fc.record({
    what: fc.constantFrom("reserve", "settle", "release", "record", "end"),
    cents: fc.integer({ min: 1, max: 40 }),
    which: fc.nat(5),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 5 }),
      async (rounds) => {
        const key = await holder({ monthly_limit: "1" });
        const held: { id: string; cents: number }[] = [];
        for (const round of rounds) {
          await Promise.all(
            round.map(async ({ what, cents, which }, index) => {
              const process = index % 2;
              const own = held[which];
              if (what === "reserve") {
                const { status, body } = await key.reserve(cents / 100, { process });
                if (status === 201) held.push({ id: String(body.id), cents });
              } else if (what === "record") await key.record(cents / 100, undefined, { process });
              else if (own && what === "settle")
                await key.record(Math.min(cents, own.cents) / 100, own.id, { process });
              else if (own && what === "release") await key.release(own.id, process);
              else if (own && what === "end") await end(own.id);
            }),
          );
          const { spent_usd: spent, held_usd: holds } = (await key.limits()).key.monthly_limit as Record<
            string,
            number
          >;
          expect(Math.round((spent ?? 0) * 100) + Math.round((holds ?? 0) * 100)).toBeLessThanOrEqual(100);
        }
      },
    ),
    { numRuns: 15 },
  );
  expect(await ledgerDifferences(harness.fixtures, team.workspace)).toEqual([]);
});
