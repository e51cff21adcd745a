import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { blockingBudgetsOf } from "@/tests/helpers/blocking-budgets";
import { reservationsOf } from "@/tests/helpers/reservations";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam, type Team } from "@/tests/helpers/team";

// The amounts that reservations hold: which are taken, for how long, and what one key may hold of a budget that others share.

const harness = withSharedHarness({ services: 2 });

let team: Team;
beforeEach(async () => {
  team = await makeTeam(harness);
});

const { create, read } = blockingBudgetsOf(() => team);
const { holder, end } = reservationsOf(harness, () => team);

describe("A reservation's amount", () => {
  test.each([
    ["0", /^is required: no price is known/],
    ["-0", /^is required: no price is known/],
    // Rounded to the 18 decimals that are kept, it is 0.
    ["0.5e-18", /^is required: no price is known/],
    ["-0.01", /^must be 0 or more$/],
    ["-1e30", /^must be 0 or more$/],
    ["1e15", /^must be less than 1e15$/],
    ["1e30", /^must be less than 1e15$/],
    ["1e400", /^must be less than 1e15$/],
    [`0.${"1".repeat(61)}`, /^must have at most 60 decimals$/],
    ['"1"', /^must be a number$/],
    ['"abc"', /^must be a number$/],
    ['"NaN"', /^must be a number$/],
    ['"Infinity"', /^must be a number$/],
    ["true", /^must be a number$/],
    ["[1]", /^must be a number$/],
  ])("may not be %s, which holds nothing", async (written, message) => {
    const key = await holder({ monthly_limit: "5" });
    expect(await key.reserveWritten(written)).toMatchObject({
      status: 400,
      body: {
        error: "validation_failed",
        issues: [{ path: "message.estimated_cost", message: expect.stringMatching(message) }],
      },
    });
    expect((await key.limits()).key.monthly_limit).toMatchObject({ held_usd: 0, remaining_usd: 5 });
  });

  test.each(["NaN", "Infinity", "-Infinity", "0x10", "1_000", ""])(
    "may not be %s, which is no JSON",
    async (written) => {
      expect((await (await holder()).reserveWritten(written)).body).toMatchObject({ error: "invalid_json" });
    },
  );

  test("is kept to 18 decimals, and refused if it exceeds a limit of any size", async () => {
    const key = await holder();
    const { body } = await key.reserveWritten("0.1234567890123456789");
    const { rows } = await harness.fixtures.sql.query(
      "select amount_usd::text from private.reservations where id = $1",
      [body.id],
    );
    expect(rows).toEqual([{ amount_usd: "0.123456789012345679" }]);
    expect((await key.reserveWritten("999999999999999.999999999999999999")).status).toBe(201);
    const limited = await holder({ monthly_limit: "1" });
    expect((await limited.reserveWritten("1.000000000000000001")).status).toBe(402);
    expect((await limited.reserveWritten("1")).status).toBe(201);
  });

  test("is settled by exactly twice as much although nothing is left, and by no more", async () => {
    const { id } = await create({ amount: 1 });
    const [key, other] = [await holder({ monthly_limit: "1" }), await holder()];
    const held = String((await key.reserve(1)).body.id);
    expect((await key.record(2.000001, held)).status).toBe(402);
    expect((await other.record(0.01)).status).toBe(402);
    expect(await key.record(2, held)).toMatchObject({
      status: 201,
      body: { reservation: { state: "settled", held_usd: 1, over_usd: 1 } },
    });
    expect(await read(id)).toMatchObject({ spent: 2, held_usd: 0 });
  });

  test.each([
    ["its key's limit", { monthly_limit: "10" }, 20],
    ["a budget", {}, 10],
  ])(
    "is no longer held where its message, at more than twice as much, is decided by %s",
    async (_, options, amount) => {
      await create({ amount });
      const key = await holder(options);
      const held = String((await key.reserve(4)).body.id);
      expect((await key.record(10.01, held)).status).toBe(402);
      expect(await key.record(10, held)).toMatchObject({
        status: 201,
        body: { reservation: { over_usd: 6 } },
      });
    },
  );

  test.each([
    ["provider", "OpenAI", { provider: "OPENAI" }, { provider: "anthropic" }],
    ["model", "gpt-4o", { model: "gpt-4o" }, { model: "o1" }],
    ["feature", "chat", { feature: "chat" }, { feature: "search" }],
    ["user", "ada", { user: "ada" }, { user: "bo" }],
    ["tag", "team:growth", { tags: { team: "growth", cost_center: "4711" } }, { tags: { team: "sales" } }],
  ])(
    "counts against the budget of its %s %s, and of no other",
    async (scope_type, scope_value, own, other) => {
      await create({ scope_type, scope_value, amount: 1 });
      const key = await holder();
      expect((await key.reserve(0.75, { message: own })).status).toBe(201);
      expect((await key.reserve(0.5, { message: other })).status).toBe(201);
      expect((await key.reserve(0.5, { message: own })).status).toBe(402);
      expect((await key.reserve(0.25, { message: own })).status).toBe(201);
    },
  );

  test("of a test key counts against no budget", async () => {
    const { id } = await create({ amount: 1 });
    expect((await (await holder({ environment: "test" })).reserve(1)).status).toBe(201);
    expect(await read(id)).toMatchObject({ held_usd: 0 });
    expect((await (await holder()).reserve(1)).status).toBe(201);
  });
});

describe("What became of a reservation", () => {
  test("stays: one that is settled or has ended is not released later", async () => {
    const key = await holder({ monthly_limit: "5" });
    const [settled, ended] = [await key.reserve(1), await key.reserve(2)];
    await key.record(0.5, String(settled.body.id));
    await end(ended.body.id);
    for (const [{ body }, state] of [
      [settled, { state: "settled", settled_usd: 0.5 }],
      [ended, { state: "expired", settled_usd: null }],
    ] as const) {
      expect((await key.release(body.id)).body).toMatchObject(state);
      expect((await key.read(body.id)).body).toMatchObject(state);
    }
    expect((await key.limits()).key.monthly_limit).toMatchObject({ spent_usd: 0.5, held_usd: 0 });
  });

  test.each([
    [undefined, 300],
    [10, 10],
    [3600, 3600],
  ])("is the end after the seconds that were asked for: %s", async (seconds, expected) => {
    const { body } = await (await holder()).reserve(1, seconds === undefined ? {} : { seconds });
    expect(Date.parse(String(body.expires_at)) - Date.parse(String(body.created_at))).toBe(expected * 1000);
  });

  test("is decided by its last instant: it holds before, and no longer at it", async () => {
    const { body } = await (await holder()).reserve(1);
    const { rows } = await harness.fixtures.sql.query(
      `select count(*) filter (where before.id is not null)::integer as before, count(at_end.id)::integer as at_end
       from private.reservations as r
       left join private.held_reservations(array[r.workspace_id], r.expires_at - interval '1 microsecond') as before on before.id = r.id
       left join private.held_reservations(array[r.workspace_id], r.expires_at) as at_end on at_end.id = r.id
       where r.id = $1`,
      [body.id],
    );
    expect(rows).toEqual([{ before: 1, at_end: 0 }]);
  });

  test("is one outcome of two messages that name it at once on two processes", async () => {
    const key = await holder();
    for (let round = 0; round < 10; round += 1) {
      const { body } = await key.reserve(1);
      const both = await Promise.all([0, 1].map((process) => key.record(1, String(body.id), { process })));
      const states = both.map((answer) => (answer.body.reservation as { state: string }).state);
      expect(states.sort()).toEqual(["settled", "settled_before"]);
    }
  });

  test("is the same for messages of one call: it is settled once, and what it held more is free for the next", async () => {
    const key = await holder({ monthly_limit: "1" });
    const id = String((await key.reserve(1)).body.id);
    const results = await key.recordTogether([0.25, id], [0.25, id], [0.5], [0.01]);
    expect(results.map(({ status, reservation }) => [status, reservation?.state])).toEqual([
      ...[
        [201, "settled"],
        [201, "settled_before"],
        [201, undefined],
        [402, undefined],
      ],
    ]);
  });

  test("does not depend on a retry: one that asks for another end is refused", async () => {
    const key = await holder();
    const retry = { key: randomUUID() };
    expect((await key.reserve(1, { ...retry, seconds: 60 })).status).toBe(201);
    expect((await key.reserve(1, { ...retry, seconds: 90 })).body).toMatchObject({
      error: "idempotency_conflict",
    });
    expect((await key.reserve(1, { ...retry, seconds: 60 })).headers.get("idempotent-replayed")).toBe("true");
  });
});

test("A reservation is remembered for a day, in which a retry is answered as the first time", async () => {
  const key = await holder();
  const [older, newer] = [{ key: randomUUID() }, { key: randomUUID() }];
  const made = [await key.reserve(1, older), await key.reserve(1, newer)];
  for (const [index, age] of ["25 hours", "23 hours"].entries())
    await harness.fixtures.sql.query(
      "update private.reservations set created_at = now() - $2::interval where id = $1",
      [made[index]?.body.id, age],
    );
  await harness.fixtures.sql.query("select private.forget_reservations(1000)");
  expect((await key.reserve(1, newer)).body.id).toBe(made[1]?.body.id);
  expect((await key.read(made[0]?.body.id)).status).toBe(404);
});

describe("One key that holds all of a budget that others share", () => {
  test.each<[string, (key: Awaited<ReturnType<typeof holder>>, id: unknown) => Promise<unknown>]>([
    ["releases it", (key, id) => key.release(id)],
    ["settles it for less", (key, id) => key.record(0.25, String(id))],
    ["lets it end", (_, id) => end(id)],
    [
      "is revoked",
      (key) =>
        harness.fixtures.sql.query("update public.api_keys set revoked_at = now() where id = $1", [key.id]),
    ],
  ])("keeps the others out, who are told what is held, until it %s", async (_, giveBack) => {
    await create({ name: "Shared", amount: 1 });
    const [key, other] = [await holder(), await holder()];
    const held = await key.reserve(1);
    for (const refused of [await other.reserve(0.5), await other.record(0.5)])
      expect(refused).toMatchObject({
        status: 402,
        body: { error: "budget_exceeded", budget: { name: "Shared" }, held_usd: 1, remaining_usd: 0 },
      });
    await giveBack(key, held.body.id);
    expect((await other.reserve(0.5)).status).toBe(201);
  });

  test("is kept to its own monthly limit, which leaves the rest to the others, and to an hour", async () => {
    await create({ amount: 1 });
    const [key, other] = [await holder({ monthly_limit: "0.25" }), await holder()];
    expect((await key.reserve(0.25, { seconds: 3600 })).status).toBe(201);
    expect((await key.reserve(0.01)).body).toMatchObject({ error: "monthly_limit_exceeded" });
    expect((await key.reserve(0.01, { seconds: 3601 })).body).toMatchObject({
      issues: [{ path: "expires_in_seconds" }],
    });
    expect((await other.reserve(0.75)).status).toBe(201);
  });
});
