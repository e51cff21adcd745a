import fc from "fast-check";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { selectUsage } from "@/lib/spend/metrics/metrics-queries";
import type { Fixtures } from "@/tests/helpers/keys";
import { storePostings } from "@/tests/helpers/store-postings";
import { withDatabase } from "@/tests/helpers/with-database";

// What forecasts go by: the usage of past days, without the adjustments of closed months that are booked on them.

let fixtures: Fixtures;
let service: pg.Client;
let admin: pg.Client;
withDatabase((open) => {
  ({ fixtures, service } = open);
  admin = new pg.Client({ connectionString: open.database.adminUrl });
});
beforeAll(() => admin.connect());
afterAll(() => admin.end());
beforeAll(() => fixtures.sql.query("select private.ensure_messages_month('2026-10-01')"));

const zones = ["UTC", "Pacific/Auckland", "America/Los_Angeles"] as const;
const days = ["2026-10-10", "2026-10-11", "2026-10-12", "2026-10-13"];
const range = { from: "2026-10-11", until: "2026-10-13" };

const posting = fc.record({
  // Hours from the first day, in whole minutes past the hour so that none is at midnight.
  hour: fc.integer({ min: 0, max: 95 }),
  cents: fc.integer({ min: -5_000, max: 5_000 }),
  adjusts: fc.boolean(),
  type: fc.constantFrom("usage", "batch", "expense"),
  environment: fc.constantFrom("live", "live", "test"),
  project: fc.constantFrom("a", "b"),
  provider: fc.constantFrom("openai", "OpenAI", "acme"),
  model: fc.constantFrom("m", "n"),
  feature: fc.constantFrom("f", null),
  end_user: fc.constantFrom("anna", null),
  tags: fc.constantFrom(["team:a"], ["team:a", "team:b"], null),
});
type Posting = typeof posting extends fc.Arbitrary<infer Value> ? Value : never;

const instantOf = ({ hour }: Posting) => new Date(Date.UTC(2026, 9, 10, hour, 30)).toISOString();
/** The day of an instant by the JavaScript engine's calendar. */
const dayOf = (posting: Posting, timeZone: string) =>
  new Intl.DateTimeFormat("en-CA", { timeZone }).format(new Date(instantOf(posting)));

/** What is asked for, the budget of the same, and which postings are of it. */
const scopes: [scope: string, value: string | null, filters: object, isOf: (posting: Posting) => boolean][] =
  [
    ["global", null, {}, () => true],
    ["project", "a", { project: "a" }, ({ project }) => project === "a"],
    ["provider", "openai", { provider: "OPENAI" }, ({ provider }) => provider.toLowerCase() === "openai"],
    ["model", "m", { model: "m" }, ({ model }) => model === "m"],
    ["feature", "f", { feature: "f" }, ({ feature }) => feature === "f"],
    ["user", "anna", { user: "anna" }, ({ end_user }) => end_user === "anna"],
    ["tag", "team:b", { tag: "team:b" }, ({ tags }) => tags?.some((tag) => tag === "team:b") ?? false],
  ];

test("The usage of a day has everything that was used on it and no adjustment, for every part of the spend and in every zone", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(posting, { maxLength: 25 }),
      fc.constantFrom(...zones),
      async (postings, zone) => {
        const workspace = await fixtures.workspace();
        await fixtures.sql.query("update public.workspaces set time_zone = $2 where id = $1", [
          workspace,
          zone,
        ]);
        await fixtures.sql.query(
          `insert into public.closed_months (workspace_id, month, amount_usd, adjustments_usd, message_count, unpriced_count)
         values ($1, '2026-08-01', 0, 0, 0, 0)`,
          [workspace],
        );
        const projects = {
          a: await fixtures.project(workspace, "a"),
          b: await fixtures.project(workspace, "b"),
        };
        await storePostings(
          service,
          postings.map(({ hour, cents, adjusts, project, ...columns }) => ({
            ...columns,
            ...{ workspace_id: workspace, project_id: projects[project] },
            occurred_at: instantOf({ hour } as Posting),
            amount_usd: (cents / 100).toFixed(2),
            ...(adjusts && { adjusts: "2026-08-15T12:00:00Z" }),
          })),
        );
        const expected = (isOf: (posting: Posting) => boolean, over: string[]) =>
          over.map((day) =>
            postings
              .filter(
                (each) =>
                  isOf(each) && !each.adjusts && each.type !== "expense" && each.environment === "live",
              )
              .filter((each) => dayOf(each, zone) === day)
              .reduce((cents, each) => cents + each.cents, 0),
          );
        const summed = (rows: { day: string; amount: string }[], over: string[]) =>
          over.map((day) => Math.round(Number(rows.find((row) => row.day === day)?.amount ?? 0) * 100));
        const within = days.filter((day) => day >= range.from && day < range.until);
        for (const [scope, value, filters, isOf] of scopes) {
          const asked = { workspaceId: workspace, filters: { environment: "live" as const, ...filters } };
          const usage = await selectUsage(admin, asked, range);
          expect([scope, ...summed(usage, within)]).toEqual([scope, ...expected(isOf, within)]);
          const { rows } = await fixtures.sql.query(
            `insert into public.budgets (workspace_id, name, scope_type, scope_value, amount) values ($1, $2, $2, $3, 100) returning id`,
            [workspace, scope, scope === "project" ? projects.a : value],
          );
          const { rows: answers } = await service.query("select private.usage_of_budgets($1, $2) as usage", [
            [rows[0].id],
            days,
          ]);
          expect([scope, ...summed(answers[0].usage, days)]).toEqual([scope, ...expected(isOf, days)]);
        }
      },
    ),
    { numRuns: Number(process.env.LEDGER_RUNS ?? 12) },
  );
}, 120_000);
