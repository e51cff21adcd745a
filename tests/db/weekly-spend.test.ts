import { randomUUID } from "node:crypto";
import fc from "fast-check";
import type pg from "pg";
import { beforeAll, expect, test } from "vitest";
import type { UserClaims } from "@/lib/db/transaction";
import { readWeek } from "@/lib/spend/weekly/service";
import { localDay } from "@/tests/helpers/budget-model";
import { connectService } from "@/tests/helpers/connect-service";
import type { TestDatabase } from "@/tests/helpers/database";
import type { Fixtures } from "@/tests/helpers/keys";
import { claimsOf, createMember } from "@/tests/helpers/sql-user";
import { withDatabase } from "@/tests/helpers/with-database";

// The weeks of a report against sums of the postings that were recorded, in time zones whose clocks change in those weeks.

let database: TestDatabase;
let fixtures: Fixtures;
let service: pg.Client;
withDatabase((open) => {
  ({ database, fixtures, service } = open);
});
connectService(() => database);
beforeAll(async () => {
  for (const month of ["2026-02-01", "2026-03-01", "2026-04-01", "2026-10-01", "2026-11-01"])
    await fixtures.sql.query("select private.ensure_messages_month($1)", [month]);
});

const dayMs = 86_400_000;
/** Mondays of weeks in which clocks change: in Berlin, New York and Auckland, forward and back. */
const weeks = fc.constantFrom(
  ["Europe/Berlin", "2026-03-23"],
  ["Europe/Berlin", "2026-10-19"],
  ["America/New_York", "2026-03-02"],
  ["America/New_York", "2026-10-26"],
  ["Pacific/Auckland", "2026-03-30"],
  ["Asia/Kolkata", "2026-03-23"],
  ["UTC", "2026-10-19"],
) as fc.Arbitrary<[string, string]>;

type Posting = {
  hours: number;
  cents: number;
  isPriced: boolean;
  project: string;
  model: string | null;
  end_user: string | null;
};
const posting: fc.Arbitrary<Posting> = fc.record({
  // From a day before both weeks to a day after them, in quarters of an hour.
  hours: fc.integer({ min: -8 * 24 * 4, max: 8 * 24 * 4 }).map((quarters) => quarters / 4),
  cents: fc.integer({ min: -500, max: 3_000 }),
  isPriced: fc.boolean(),
  project: fc.constantFrom("a", "b"),
  model: fc.constantFrom("gpt-5", "claude", null),
  end_user: fc.constantFrom("anna", "bert", null),
});

/** Adds a member to a workspace. @returns their claims */
async function memberOf(workspace: string): Promise<UserClaims> {
  return claimsOf(await createMember(fixtures, workspace, "viewer"));
}

const usd = (cents: number) => cents / 100;

test("Sums of a week and the week before equal those of the recorded postings, in zones whose clocks change", async () => {
  await fc.assert(
    fc.asyncProperty(weeks, fc.array(posting, { maxLength: 40 }), async ([zone, monday], postings) => {
      const slug = `w-${randomUUID()}`;
      const workspace = await fixtures.workspace(slug);
      const claims = await memberOf(workspace);
      const ids = { a: await fixtures.project(workspace, "a"), b: await fixtures.project(workspace, "b") };
      const recorded = postings.map(({ hours, cents, isPriced, project, ...rest }) => ({
        workspace_id: workspace,
        id: randomUUID(),
        created_at: "2026-11-20T00:00:00Z",
        occurred_at: new Date(Date.parse(monday) + hours * 3_600_000).toISOString(),
        type: "usage",
        source: "api",
        environment: "live",
        project_id: ids[project as "a"],
        amount_usd: isPriced ? String(usd(cents)) : "0",
        cost_status: isPriced ? "priced" : "unpriced",
        provider: "openai",
        ...rest,
      }));
      await service.query("select private.store_messages('[]', $1, '[]')", [
        // Test data of the same days does not count.
        JSON.stringify([
          ...recorded,
          ...recorded.map((row) => ({ ...row, id: randomUUID(), environment: "test" })),
        ]),
      ]);
      const week = await readWeek(claims, slug, zone, monday);
      const mondayOf = (at: string) => {
        const day = Date.parse(localDay(zone, Date.parse(at)));
        return new Date(day - ((new Date(day).getUTCDay() + 6) % 7) * dayMs).toISOString().slice(0, 10);
      };
      const previous = new Date(Date.parse(monday) - 7 * dayMs).toISOString().slice(0, 10);
      const inWeek = recorded.filter((row) => mondayOf(row.occurred_at) === monday);
      const inPrevious = recorded.filter((row) => mondayOf(row.occurred_at) === previous);
      const sum = (rows: typeof recorded) =>
        rows.reduce((cents, row) => cents + Math.round(Number(row.amount_usd) * 100), 0);
      expect(Math.round(Number(week.amount) * 100)).toBe(sum(inWeek));
      expect(Math.round(Number(week.before) * 100)).toBe(sum(inPrevious));
      expect(week.messages).toBe(inWeek.length);
      expect(week.unpriced.count).toBe(inWeek.filter((row) => row.cost_status === "unpriced").length);
      const movedOf = (name: (row: (typeof recorded)[number]) => string | null) =>
        [...new Set(recorded.map(name))]
          .filter((each) => each !== null)
          .map((each) => ({
            name: each,
            after: sum(inWeek.filter((row) => name(row) === each)),
            before: sum(inPrevious.filter((row) => name(row) === each)),
          }))
          .filter(({ after, before }) => after !== before)
          .map(({ name: called, after, before }) => `${called} ${after} ${before}`)
          .sort();
      const shown = (movers: typeof week.movers.project) =>
        movers
          .map(
            ({ name, amount, before }) =>
              `${name} ${Math.round(Number(amount) * 100)} ${Math.round(Number(before) * 100)}`,
          )
          .sort();
      expect(shown(week.movers.project)).toEqual(movedOf((row) => (row.project_id === ids.a ? "a" : "b")));
      expect(shown(week.movers.user)).toEqual(movedOf((row) => row.end_user));
      expect(shown(week.movers.model)).toEqual(movedOf((row) => row.model));
    }),
    { numRuns: 30, endOnFailure: true },
  );
}, 60_000);

test("Counts a voided cost as none, also in the hours before the first whole UTC day", async () => {
  const slug = `w-${randomUUID()}`;
  const workspace = await fixtures.workspace(slug);
  const claims = await memberOf(workspace);
  const project_id = await fixtures.project(workspace, "a");
  const row = () => ({
    ...{
      workspace_id: workspace,
      id: randomUUID(),
      project_id,
      type: "usage",
      source: "api",
      environment: "live",
    },
    ...{ amount_usd: "0", cost_status: "unpriced", provider: "openai", unit_type: "requests", quantity: 1 },
    ...{ created_at: "2026-11-20T00:00:00Z", occurred_at: "2026-03-22T23:30:00Z" },
  });
  const [kept, voided] = [row(), row()];
  await service.query("select private.store_messages('[]', $1, '[]')", [JSON.stringify([kept, voided])]);
  await fixtures.sql.query(
    "insert into public.message_voids (workspace_id, message_id, reason) values ($1, $2, 'Twice')",
    [workspace, voided?.id],
  );
  const week = await readWeek(claims, slug, "Europe/Berlin", "2026-03-23");
  expect([week.messages, week.unpriced.count]).toEqual([1, 1]);
});
