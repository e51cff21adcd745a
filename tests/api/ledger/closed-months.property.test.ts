import fc from "fast-check";
import { expect, test } from "vitest";
import { dayOf } from "@/lib/contract/values/instant";
import { reconcile } from "@/lib/ledger/reconcile/service";
import { firstDay } from "@/tests/helpers/closable-months";
import { type Added, type ClosingTeam, makeClosingTeam, sha256 } from "@/tests/helpers/closing-team";
import { connectService } from "@/tests/helpers/connect-service";
import { foldPastDays } from "@/tests/helpers/folds";
import { ledgerDifferences, withHarness } from "@/tests/helpers/harness";
import { expense } from "@/tests/helpers/recording";

// A database of its own: reconciling compares every month that the database has, and a shared one has those of many files.
const harness = withHarness({ services: 2 });
connectService(() => harness.database);

const rows = async (text: string, values: unknown[]) => (await harness.fixtures.sql.query(text, values)).rows;

/** `LEDGER_RUNS` sets how many; more for a nightly run. */
const runs = Math.ceil(Number(process.env.LEDGER_RUNS ?? 30) / 5);

const usd = fc.integer({ min: 1, max: 10 ** 9 }).map((n) => n / 10 ** 6);
const zones = ["UTC", "Pacific/Auckland", "America/Los_Angeles"] as const;
/** An instant in a month so many months ago, or near its first midnight, which is that of another instant in each zone. */
const time = fc
  .record({
    ago: fc.constantFrom(1, 2, 2, 3, 3, 4),
    hours: fc.oneof(fc.nat(28 * 24 - 1), fc.integer({ min: -14, max: 14 })),
  })
  .map(({ ago, hours }) => ({ at: Date.parse(firstDay(ago)) + hours * 3_600_000 }));
const message = fc.oneof(
  usd.map((amount) => expense(amount)),
  usd.map((quantity) => ({
    ...{
      type: "usage",
      provider: "in-house",
      model: "m",
      unit_type: "requests",
      user: "bo",
      tags: { team: "a" },
    },
    quantity,
  })),
  fc.tuple(usd, usd).map((each) => ({
    ...{ type: "batch", provider: "in-house", batch_id: "b" },
    items: each.map((quantity) => ({ model: "m", unit_type: "requests", quantity })),
  })),
  usd.map((amount) => ({ type: "subscription", vendor: "v", amount, interval: "year" })),
);
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ does: fc.constant("record" as const), message, time }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("void" as const), which: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("correct" as const), which: fc.nat(), message }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("close" as const), ago: fc.constantFrom(2, 3) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("reopen" as const) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("price" as const), rate: usd, time }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("fold" as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** What was filed of each closing, and what was exported of its month, when it was closed. */
type Filed = Map<string, { month: string; hash: string; amount: number; exported: string }>;

type Team = ClosingTeam & { zone: string };

/** The day of an instant by the JavaScript engine's calendar; exactly midnight UTC is of that day everywhere. */
const dayIn = (zone: string, at: number) =>
  at % 86_400_000 === 0 ? dayOf(at) : new Intl.DateTimeFormat("en-CA", { timeZone: zone }).format(at);
/** The same in SQL, as a timestamp, of a column. */
const shown = (column: string) =>
  `case when (${column} at time zone 'UTC')::time = '00:00' then ${column} at time zone 'UTC' else ${column} at time zone $2 end`;

async function noteClosings(team: ClosingTeam, filed: Filed): Promise<void> {
  for (const { closing } of (await team.list()).months) {
    if (!closing || filed.has(closing.id)) continue;
    const { id, month, sha256: hash } = closing;
    expect(sha256(await team.filed(id))).toBe(hash);
    const exported = await team.exported(month);
    filed.set(id, { month, hash: hash as string, amount: closing.amount_usd as unknown as number, exported });
  }
}

async function play(team: Team, { does, ...step }: Step, recorded: string[], filed: Filed): Promise<void> {
  const chosen = "which" in step ? recorded[step.which % Math.max(1, recorded.length)] : undefined;
  if ("message" in step && "time" in step) {
    const { at } = step.time;
    const { closed_until: closedUntil } = await team.list();
    const occurred_at = new Date(at).toISOString();
    const isOfPeriod = step.message.type === "subscription";
    const day = isOfPeriod ? dayOf(at) : dayIn(team.zone, at);
    const answer = await team.add({
      ...step.message,
      ...(isOfPeriod ? { starts_on: dayOf(at) } : { occurred_at }),
    });
    recorded.push(answer.id);
    const wanted = isOfPeriod ? `${dayOf(at)}T00:00:00.000Z` : occurred_at;
    const isClosed = closedUntil !== null && day < closedUntil;
    expect(answer.adjusts && new Date(answer.adjusts).toISOString()).toBe(isClosed ? wanted : undefined);
  } else if (does === "void" && chosen) {
    expect([201, 409]).toContain((await team.voids(chosen)).status);
  } else if (does === "correct" && chosen && "message" in step) {
    const { status, body } = await team.corrects(chosen, step.message);
    expect([201, 409], JSON.stringify(body)).toContain(status);
    if (status === 201) recorded.push((body.correction as { id: string }).id);
  } else if ("ago" in step) {
    expect([201, 409]).toContain((await team.close(firstDay(step.ago).slice(0, 7))).status);
    await noteClosings(team, filed);
  } else if (does === "reopen") {
    const last = (await team.list()).months.find(({ closing }) => closing !== null);
    if (last) expect((await team.reopen(last.month)).status).toBe(201);
  } else if ("rate" in step) {
    const starts_at = new Date(step.time.at).toISOString();
    const price = { provider: "in-house", model: "m", unit_type: "requests", rate: step.rate, starts_at };
    const reprice = { from: `${firstDay(6)}T00:00:00Z` };
    const { status, body } = await team.users.admin.call("PUT", `${team.path}/prices`, {
      ...price,
      reprice,
    });
    expect(status, JSON.stringify(body)).toBe(200);
    await expect
      .poll(
        () =>
          rows("select 1 from public.repricings where workspace_id = $1 and status <> 'done'", [
            team.workspace,
          ]),
        { timeout: 30_000 },
      )
      .toEqual([]);
  } else if (does === "fold") {
    await foldPastDays(harness.fixtures);
  }
}

async function checkAll(team: Team, filed: Filed): Promise<void> {
  const { months } = await team.list();
  for (const month of months) {
    if (!month.closing) continue;
    const was = filed.get(month.closing.id);
    expect(month.closing.sha256).toBe(was?.hash);
    expect(sha256(await team.filed(month.closing.id))).toBe(was?.hash);
    expect(await team.exported(month.month)).toBe(was?.exported);
    const [sums] = await rows(
      `select coalesce(sum(amount_usd), 0)::float8 as usd from public.messages
       where workspace_id = $1 and environment = 'live' and to_char(${shown("occurred_at")}, 'YYYY-MM') = $3`,
      [team.workspace, team.zone, month.month],
    );
    expect(month.amount_usd).toBeCloseTo(sums.usd, 9);
    expect(month.amount_usd).toBe(was?.amount);
  }
  // Every adjustment is of a month that was closed when it was recorded, and booked then. A void of one that is booked in an open
  // month is booked beside it.
  const wrong = await rows(
    `select m.id from public.messages as m
     where m.workspace_id = $1 and m.adjusts is not null and not exists (
       select from public.messages as o where o.workspace_id = m.workspace_id and o.id = m.voids and o.part = m.part
         and o.adjusts = m.adjusts and o.occurred_at = m.occurred_at
     ) and (m.occurred_at <> m.created_at or not exists (
       select from public.closed_months as c
       where c.workspace_id = m.workspace_id and c.closed_at <= m.created_at
         and coalesce(c.reopened_at, 'infinity') >= m.created_at and ${shown("m.adjusts")} < c.month + interval '1 month'
     ))`,
    [team.workspace, team.zone],
  );
  expect(wrong).toEqual([]);
  const total = months.reduce((sum, { amount_usd }) => sum + (amount_usd as unknown as number), 0);
  // The last month is the zone's: its first may be a cost of midnight UTC that has passed already.
  const [all] = await rows(
    `select coalesce(sum(amount_usd), 0)::float8 as usd from public.messages
     where workspace_id = $1 and environment = 'live'
       and ${shown("occurred_at")} < date_trunc('month', now() at time zone $2) + interval '1 month'`,
    [team.workspace, team.zone],
  );
  expect(total).toBeCloseTo(all.usd, 6);
  expect(await ledgerDifferences(harness.fixtures, team.workspace)).toEqual([]);
  const { left } = await reconcile({ workspace: team.slug, repair: false });
  expect(left).toEqual([]);
}

test("Closed months keep figures, hashes and rows through any costs, voids, corrections, prices and folds, in any time zone", async () => {
  const steps = fc.array(step, { minLength: 6, maxLength: 16 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...zones), steps, async (zone, steps) => {
      const team = { ...(await makeClosingTeam(harness)), zone };
      await rows("update public.workspaces set time_zone = $2 where id = $1", [team.workspace, zone]);
      const recorded: string[] = [];
      const filed: Filed = new Map();
      for (const each of steps) await play(team, each, recorded, filed);
      await checkAll(team, filed);
    }),
    { numRuns: runs, endOnFailure: true },
  );
}, 600_000);

test("A message that is recorded while its month is closed counts in what is filed or is an adjustment, on either process", async () => {
  for (let round = 0; round < 3; round += 1) {
    const team = await makeClosingTeam(harness);
    const { secret } = await harness.fixtures.key(team.workspace);
    const month = firstDay(2).slice(0, 7);
    const before = await team.add({ ...expense(0.5), occurred_at: `${month}-03T00:00:00Z` });
    const post = (service: number, index: number) =>
      fetch(`${harness.services[service]?.baseUrl}/api/v1/messages`, {
        method: "POST",
        headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
        body: JSON.stringify({
          project: `p-${index % 3}`,
          source: "api",
          message: { ...expense(1), occurred_at: `${month}-${String(5 + index).padStart(2, "0")}T00:00:00Z` },
        }),
      }).then(async (answer) => ({ status: answer.status, body: (await answer.json()) as Added }));
    const posted = Array.from({ length: 20 }, (_, index) => post(index % 2, index));
    const [closing, undone, ...answers] = await Promise.all([
      team.close(month),
      team.voids(before.id),
      ...posted,
    ] as const);
    expect(closing.status).toBe(201);
    expect(undone.status).toBe(201);
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(201));
    const filed = await team.monthOf(month);
    const { entries } = await team.detail(String(undone.body.id));
    const [{ adjusts: voidAdjusts }] = entries as [{ adjusts: string | null }];
    const counted = answers.filter(({ body }) => body.adjusts === undefined).length;
    expect(filed.amount_usd).toBe(counted + (voidAdjusts === null ? 0 : 0.5));
    expect(filed.later_adjustments_usd).toBe(20 - counted - (voidAdjusts === null ? 0 : 0.5));
    expect(await ledgerDifferences(harness.fixtures, team.workspace)).toEqual([]);
    expect((await reconcile({ workspace: team.slug, repair: false })).left).toEqual([]);
  }
}, 120_000);
