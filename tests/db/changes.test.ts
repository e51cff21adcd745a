import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { clockOf } from "@/lib/contract/values/clock";
import type { DayRange } from "@/lib/contract/values/month";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import { loadChanges } from "@/lib/spend/changes/service";
import { connectService } from "@/tests/helpers/connect-service";
import type { TestDatabase } from "@/tests/helpers/database";
import { foldPastDays } from "@/tests/helpers/folds";
import type { Fixtures } from "@/tests/helpers/keys";
import { exact, show, total } from "@/tests/helpers/ledger/exact";
import { claimsOf, createMember } from "@/tests/helpers/sql-user";
import { withDatabase } from "@/tests/helpers/with-database";

let database: TestDatabase;
let fixtures: Fixtures;
let workspaceId: string;
let member: UserClaims;

const dayOf = (day: number) => new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10);

withDatabase((open) => {
  ({ database, fixtures } = open);
});
connectService(() => database);
beforeAll(async () => {
  workspaceId = await fixtures.workspace();
  member = claimsOf(await createMember(fixtures, workspaceId, "viewer"));
  // Two projects of one name, and one that ends with January.
  for (const slug of ["a", "b", "c"]) await fixtures.project(workspaceId, slug);
  await fixtures.sql.query(
    "update public.projects set name = 'Same' where workspace_id = $1 and slug <> 'c'",
    [workspaceId],
  );
  await fixtures.sql.query(
    `select private.add_daily_spend(array_agg(row(
       $1::uuid, '2026-01-01'::date + day, p.id, null, type, 'p', model, null, 'api', environment,
       case when type = 'allocation' then -1 else 1 end * (0.1 + day % 7 * 0.37 + length(model)) / 1000,
       1, 1 + day % 3, 0, person, null, 0
     )::public.daily_spend))
     from generate_series(0, 58) as day, public.projects as p,
       unnest(array['usage', 'batch', 'expense', 'allocation']) as type, unnest(array['m', 'mm']) as model,
       unnest(array['live', 'test']) as environment, unnest(array['anna', null]) as person
     where p.workspace_id = $1 and not (p.slug = 'c' and day > 30) and not (model = 'mm' and day < 20)`,
    [workspaceId],
  );
}, 60_000);

const range = fc
  .tuple(fc.integer({ min: -3, max: 60 }), fc.integer({ min: 1, max: 40 }))
  .map(([first, days]) => ({ from: dayOf(first), until: dayOf(first + days) }));
const dayBefore = (day: string) => new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10);
const explain = async (
  now: DayRange,
  before: DayRange,
  environment: "live" | "test",
  filters?: Parameters<typeof loadChanges>[1]["filters"],
) => {
  const query = {
    from: now.from,
    to: dayBefore(now.until),
    compare_from: before.from,
    compare_to: dayBefore(before.until),
  };
  const changes = await asUserReading(member, (client, at) =>
    loadChanges(client, { workspaceId, environment, filters }, query, clockOf("UTC", at)),
  );
  if (!changes) throw new Error("Nothing was compared.");
  return changes;
};

test("Explains the difference of any two ranges by causes that sum to that of the ledger's sums", async () => {
  const spent = async ({ from, until }: { from: string; until: string }, environment: string) => {
    const { rows } = await fixtures.sql.query(
      `select coalesce(sum(amount_usd), 0)::text as usd from public.daily_spend
       where workspace_id = $1 and environment = $2 and day >= $3 and day < $4`,
      [workspaceId, environment, from, until],
    );
    return exact(rows[0].usd);
  };
  await fc.assert(
    fc.asyncProperty(
      range,
      range,
      fc.constantFrom<("live" | "test")[]>("live", "test"),
      async (now, before, environment) => {
        const changes = await explain(now, before, environment);
        const [later, earlier] = [await spent(now, environment), await spent(before, environment)];
        expect(show(exact(changes.now_usd))).toBe(show(later));
        expect(show(exact(changes.before_usd))).toBe(show(earlier));
        expect(show(exact(changes.difference_usd))).toBe(show(later - earlier));
        expect(show(total(changes.causes.map(({ amount_usd: usd }) => exact(usd))))).toBe(
          show(later - earlier),
        );
      },
    ),
    { numRuns: 60 },
  );
});

test("Explains the difference of a part of the spend by causes that sum to that of its own rows", async () => {
  const parts = [
    { project: "a" },
    { user: "anna" },
    { model: "mm" },
    { user: null },
    { project: "b", model: "m" },
  ];
  await fc.assert(
    fc.asyncProperty(range, range, fc.constantFrom(...parts), async (now, before, filters) => {
      const changes = await explain(now, before, "live", filters);
      const { rows } = await fixtures.sql.query(
        `select coalesce(sum(amount_usd) filter (where day >= $2 and day < $3), 0)::text as now,
           coalesce(sum(amount_usd) filter (where day >= $4 and day < $5), 0)::text as before
         from public.daily_spend as s join public.projects as p on p.id = s.project_id
         where s.workspace_id = $1 and environment = 'live' and ($6::text is null or p.slug = $6)
           and ($7::text is null or model = $7) and (not $8 or end_user is not distinct from $9)`,
        [
          workspaceId,
          ...[now.from, now.until, before.from, before.until],
          "project" in filters ? filters.project : null,
          "model" in filters ? filters.model : null,
          "user" in filters,
          "user" in filters ? filters.user : null,
        ],
      );
      const [later, earlier] = [exact(rows[0].now), exact(rows[0].before)];
      expect(show(exact(changes.now_usd))).toBe(show(later));
      expect(show(total(changes.causes.map(({ amount_usd: usd }) => exact(usd))))).toBe(
        show(later - earlier),
      );
      if ("user" in filters && filters.user !== null && later !== earlier)
        expect(changes.people.map(({ value, difference_usd: usd }) => [value, show(exact(usd))])).toEqual([
          [filters.user, show(later - earlier)],
        ]);
    }),
    { numRuns: 60 },
  );
});

test("Explains differences in the same way when past days are folded", async () => {
  const ranges = fc.sample(fc.tuple(range, range), { numRuns: 25, seed: 3 });
  const whole: DayRange = { from: dayOf(0), until: dayOf(31) };
  ranges.push([{ from: dayOf(31), until: dayOf(59) }, whole], [whole, whole]);
  const explainAll = async () => {
    const found = [];
    for (const [now, before] of ranges) {
      const { causes, ...changes } = await explain(now, before, "live");
      // Parts with the same amount are in no fixed order.
      found.push({ ...changes, causes: causes.map(({ name, amount_usd: usd }) => [name, usd]) });
    }
    return found;
  };
  const unfolded = await explainAll();
  await foldPastDays(fixtures);
  const { rows } = await fixtures.sql.query("select folded_until::text as day from public.spend_folds");
  expect(rows).toEqual([{ day: dayOf(59) }]);
  expect(await explainAll()).toEqual(unfolded);
});
