import { beforeAll, expect, test } from "vitest";
import { type Amount, exactText } from "@/components/figures/amount";
import { subjectDimensions } from "@/lib/contract/spend/subjects";
import { clockOf } from "@/lib/contract/values/clock";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import { readSpendingKey } from "@/lib/keys/management/service";
import { loadSubjects } from "@/lib/spend/subjects/service";
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
let stranger: UserClaims;

const people = 150;

withDatabase((open) => {
  ({ database, fixtures } = open);
});
connectService(() => database);
beforeAll(async () => {
  workspaceId = await fixtures.workspace();
  member = claimsOf(await createMember(fixtures, workspaceId, "viewer"));
  stranger = claimsOf(await createMember(fixtures, await fixtures.workspace(), "owner"));
  for (const slug of ["a", "b"]) await fixtures.project(workspaceId, slug);
  // 150 people, of whom the last fifty spent nothing in the later days, in two projects, two models and two tags.
  await fixtures.sql.query(
    `select private.add_daily_spend(array_agg(row(
       $1::uuid, '2026-01-01'::date + day, p.id, null, 'usage', 'p', 'm' || person % 2, 'f', 'api', 'live',
       (0.1 + day % 7 * 0.37 + person) / 1000, 1, 1, 0, 'person-' || person, array['team:' || person % 2], 0
     )::public.daily_spend))
     from generate_series(0, 19) as day, public.projects as p, generate_series(1, ${people}) as person
     where p.workspace_id = $1 and not (person > 100 and day >= 10)`,
    [workspaceId],
  );
  // Two messages with three lines of a model without a price.
  await fixtures.sql.query(
    `select private.add_daily_spend(array_agg(row(
       $1::uuid, '2026-01-12'::date, p.id, null, 'usage', 'p', 'unheard-of', 'f', 'api', 'live', 0, 2, 3, 3, null, '{}'::text[], 0
     )::public.daily_spend))
     from public.projects as p where p.workspace_id = $1 and p.slug = 'a'`,
    [workspaceId],
  );
}, 60_000);

const list = (dimension: (typeof subjectDimensions)[number], claims = member) =>
  asUserReading(claims, (client) =>
    loadSubjects(
      client,
      workspaceId,
      { dimension, environment: "live", period: "range", from: "2026-01-11", to: "2026-01-20" },
      { currency: undefined, clock: clockOf("UTC", Date.parse("2026-02-10T12:00:00Z")) },
    ),
  );

const summed = async (from: string, until: string) => {
  const { rows } = await fixtures.sql.query(
    `select coalesce(sum(amount_usd), 0)::text as usd from public.daily_spend
     where workspace_id = $1 and day >= $2 and day < $3`,
    [workspaceId, from, until],
  );
  return show(exact(rows[0].usd));
};

const sumOf = (amounts: (Amount | null | undefined)[]) =>
  show(total(amounts.map((amount) => exact(exactText(amount ?? 0)))));

test.each(["before past days are folded", "when they are folded"])(
  "Lists every kind with spend and changes that sum to those of the ledger's sums, and how much has no price, %s",
  async (when) => {
    if (when.startsWith("when")) await foldPastDays(fixtures);
    const [now, before] = [
      await summed("2026-01-11", "2026-01-21"),
      await summed("2026-01-01", "2026-01-11"),
    ];
    for (const dimension of subjectDimensions.filter((each) => each !== "key")) {
      const { subjects, found, compared } = await list(dimension);
      expect(found, dimension).toBe(subjects.length);
      expect(sumOf(subjects.map(({ spent }) => spent)), dimension).toBe(now);
      expect(sumOf(subjects.map(({ change }) => change?.before)), dimension).toBe(before);
      expect(sumOf(subjects.map(({ change }) => change?.difference)), dimension).toBe(
        show(exact(now) - exact(before)),
      );
      expect(compared).toMatchObject({ from: "2026-01-01", to: "2026-01-10", until: null });
    }
    const unpriced = async (dimension: "model" | "project") =>
      (await list(dimension)).subjects.flatMap(({ value, messages, unpriced: lines }) =>
        lines === 0 ? [] : [[value, dimension === "model" ? messages : 0, lines]],
      );
    expect(await unpriced("model")).toEqual([["unheard-of", 2, 3]]);
    expect(await unpriced("project")).toEqual([["a", 0, 3]]);
  },
);

test("Lists people beyond a hundred, the highest spend first, with those who stopped", async () => {
  const { subjects } = await list("user");
  expect(subjects).toHaveLength(people);
  expect(subjects[0]?.name).toBe("person-100");
  const stopped = subjects.find(({ name }) => name === "person-150");
  expect([exactText(stopped?.spent ?? 1), stopped?.messages]).toEqual(["0", 0]);
  expect(exactText(stopped?.change?.difference ?? 1)).toMatch(/^-/);
  const { subjects: projects } = await list("project");
  expect(projects.map(({ value }) => value).sort()).toEqual(["a", "b"]);
});

test("Shows a member of another workspace nothing", async () => {
  expect((await list("user", stranger)).subjects).toEqual([]);
});

test("The page of a key has its name and limit, of whichever kind it is, for members of its workspace alone", async () => {
  const { rows } = await fixtures.sql.query("select slug from public.workspaces where id = $1", [
    workspaceId,
  ]);
  const { slug } = rows[0];
  for (const kind of ["key", "connection", "member", "environment"] as const) {
    const { id } = await fixtures.key(workspaceId, { monthly_limit: "12.50" });
    await fixtures.sql.query("update public.api_keys set kind = $2, name = $2 where id = $1", [id, kind]);
    const { name, limit, spent } = await readSpendingKey(member, slug, id);
    expect([name, limit?.text, spent.text]).toEqual([kind, "12.5", "0"]);
    await expect(readSpendingKey(stranger, slug, id)).rejects.toMatchObject({ code: "not_found" });
    const elsewhere = await fixtures.key(await fixtures.workspace());
    for (const other of [elsewhere.id, "no-key"])
      await expect(readSpendingKey(member, slug, other)).rejects.toMatchObject({ code: "not_found" });
  }
});
