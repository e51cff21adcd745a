import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { localDay, type ModelBudget, type ModelPosting } from "./budget-model";
import type { Fixtures } from "./keys";

// Random budgets of every scope, period and time zone, and random postings around midnights.

const dayMs = 86_400_000;
const now = Date.now();

/** Ids for two projects, which `postings` are of. */
export const projectIds = [randomUUID(), randomUUID()];

const zone = fc.constantFrom("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Auckland");
const pick = <T>(...values: T[]) => fc.constantFrom(...values);

export const posting: fc.Arbitrary<ModelPosting> = fc.record({
  // Most near now, some a year back and some booked ahead; many close to a midnight somewhere.
  occurred_at: fc
    .tuple(
      fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -380, max: 60 })),
      fc.integer({ min: -90, max: 90 }),
      zone,
    )
    .map(([days, minutes, near]) => {
      const midnight = Date.parse(`${localDay("UTC", now + days * dayMs)}T00:00:00Z`);
      const offset = Date.parse(`${localDay(near, midnight)}T00:00:00Z`) - midnight;
      return new Date(midnight + offset + minutes * 60_000).toISOString();
    }),
  type: pick("usage" as const, "usage" as const, "expense" as const),
  cents: fc.integer({ min: 1, max: 3_000 }),
  project_id: fc.constantFrom(...projectIds),
  provider: pick("openai", "OpenAI", "anthropic", null),
  model: pick("gpt-5", "claude", null),
  feature: pick("chat", null),
  end_user: pick("anna@example.com", null),
  tags: pick(["team:growth"], ["cost:1", "team:growth"], null),
});

const day = (min: number, max: number) =>
  fc.integer({ min, max }).map((days) => localDay("UTC", now + days * dayMs));

export const budget: fc.Arbitrary<ModelBudget> = fc
  .record({
    scope: pick<[ModelBudget["scope_type"], string | null]>(
      ["global", null],
      ["project", projectIds[0] ?? ""],
      ["provider", "OPENAI"],
      ["model", "gpt-5"],
      ["feature", "chat"],
      ["user", "anna@example.com"],
      ["tag", "team:growth"],
    ),
    period: pick(
      "day" as const,
      "week" as const,
      "month" as const,
      "quarter" as const,
      "year" as const,
      "once" as const,
    ),
    week_start: fc.integer({ min: 1, max: 7 }),
    time_zone: zone,
    from: fc.option(day(-100, 2), { freq: 3 }),
    last: fc.option(day(3, 60), { freq: 3 }),
    amount_cents: fc.integer({ min: 500, max: 20_000 }),
    alert_percents: fc.subarray([50, 80, 100]),
    alert_cents: fc.subarray([1_000, 5_000]),
  })
  .map(({ scope: [scope_type, scope_value], from, last, ...rest }) => ({
    ...rest,
    scope_type,
    scope_value,
    starts_on: from ?? (rest.period === "once" ? localDay("UTC", now - 20 * dayMs) : null),
    ends_on: last ?? (rest.period === "once" ? localDay("UTC", now + 20 * dayMs) : null),
  }));

/** Creates the months of the ledger that random postings are in. */
export async function ensureMonths({ sql }: Fixtures): Promise<void> {
  for (let ahead = -14; ahead <= 3; ahead += 1) {
    const month = new Date(now);
    month.setUTCMonth(month.getUTCMonth() + ahead, 1);
    await sql.query("select private.ensure_messages_month($1)", [month.toISOString()]);
  }
}

/** Creates a workspace with the projects of `postings`. */
export async function workspaceOfProjects(fixtures: Fixtures): Promise<string> {
  const workspace = await fixtures.workspace();
  for (const [index, id] of projectIds.entries()) {
    await fixtures.sql.query(
      "insert into public.projects (workspace_id, id, slug, name) values ($1, $2, $3, $3)",
      [workspace, id, `p${index}`],
    );
  }
  return workspace;
}

/** The row of a posting, as `private.store_messages` takes it. */
export function rowOf(workspace: string, id: string, { cents, ...columns }: ModelPosting): object {
  return {
    workspace_id: workspace,
    id,
    created_at: new Date(now).toISOString(),
    source: "api",
    environment: "live",
    amount_usd: String(cents / 100),
    cost_status: "client",
    ...columns,
  };
}

/** Sets a budget. @returns its id */
export async function setBudget(
  { sql }: Fixtures,
  workspace: string,
  model: ModelBudget,
  more: Record<string, unknown> = {},
): Promise<string> {
  const { amount_cents: amount, alert_cents: amounts, ...rest } = model;
  const columns = Object.entries({
    workspace_id: workspace,
    name: "b",
    ...rest,
    amount: amount / 100,
    alert_amounts: amounts.map((cents) => cents / 100),
    ...more,
  });
  const { rows } = await sql.query(
    `insert into public.budgets (${columns.map(([name]) => name)})
     values (${columns.map((_, index) => `$${index + 1}`)}) returning id`,
    columns.map(([, value]) => value),
  );
  return rows[0].id;
}
