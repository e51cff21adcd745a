import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import {
  budget,
  ensureMonths,
  posting,
  setBudget,
  workspaceOfProjects,
} from "@/tests/helpers/budget-arbitraries";
import {
  localDay,
  type ModelBudget,
  type ModelPosting,
  periodOf,
  presentPeriod,
  spentByPeriod,
} from "@/tests/helpers/budget-model";
import { apiClient } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

// Random blocking budgets and messages of a year, sent one after another and all at once, through two processes.

const harness = withSharedHarness({ services: 2 });

beforeAll(() => ensureMonths(harness.fixtures));

const runs = Number(process.env.BUDGET_RUNS ?? 12);

const withProvider = posting.map((each) => ({
  ...each,
  provider: each.provider ?? "openai",
  // The API refuses costs that lie ahead.
  occurred_at: new Date(Math.min(Date.parse(each.occurred_at), Date.now() - 1000)).toISOString(),
}));

/** A posting as a message: the first project has the slug p0, the second p1. */
function messageOf(each: ModelPosting, slugs: Map<string, string>) {
  const { cents, type, occurred_at, provider, model, feature, end_user: user, tags } = each;
  const common = {
    occurred_at,
    ...(tags && { tags: Object.fromEntries(tags.map((tag) => tag.split(":") as [string, string])) }),
  };
  const usage = {
    type: "usage",
    provider,
    unit_type: "requests",
    quantity: 1,
    estimated_cost: cents / 100,
    ...(model && { model }),
    ...(feature && { feature }),
    ...(user && { user }),
  };
  const expense = { type: "expense", vendor: provider, amount: cents / 100 };
  return {
    project: slugs.get(each.project_id),
    source: "api",
    message: { ...(type === "usage" ? usage : expense), ...common },
  };
}

/** What of a posting is recorded: an expense has no model, feature or user. */
const asRecorded = (each: ModelPosting): ModelPosting =>
  each.type === "usage" ? each : { ...each, model: null, feature: null, end_user: null };

/** Whether budgets leave room for a posting after others. */
function hasRoom(
  models: ModelBudget[],
  firsts: (string | undefined)[],
  before: ModelPosting[],
  next: ModelPosting,
) {
  return models.every((model, index) => {
    const period = periodOf(model, localDay(model.time_zone, Date.parse(next.occurred_at)));
    if (period === undefined || period < (firsts[index] ?? "")) return true;
    const spent = spentByPeriod(model, before).get(period) ?? 0;
    const after = spentByPeriod(model, [...before, next]).get(period) ?? 0;
    return after === spent || after <= model.amount_cents;
  });
}

/** Sets budgets in a new workspace, after some postings were recorded in it. */
async function prepare(models: ModelBudget[], earlier: ModelPosting[] = []) {
  const workspace = await workspaceOfProjects(harness.fixtures);
  const { rows } = await harness.fixtures.sql.query<{ id: string; slug: string }>(
    "select id, slug from public.projects where workspace_id = $1",
    [workspace],
  );
  const { secret } = await harness.fixtures.key(workspace);
  const clients = harness.services.map(({ baseUrl }) => apiClient(baseUrl, secret));
  const slugs = new Map(rows.map(({ id, slug }) => [id, slug]));
  if (earlier.length > 0) {
    const messages = earlier.map((each) => messageOf(each, slugs));
    await clients[0]?.call("POST", "/api/v1/messages/batch", { messages });
  }
  const ids: string[] = [];
  for (const model of models) ids.push(await setBudget(harness.fixtures, workspace, model, { blocks: true }));
  return { ids, slugs, clients };
}

async function spentOf(id: string): Promise<[string, number][]> {
  const { rows } = await harness.fixtures.sql.query(
    `select period_from::text, round(spent_usd * 100)::int as cents from public.budget_spend
     where budget_id = $1 and spent_usd <> 0 order by 1`,
    [id],
  );
  return rows.map((row) => [row.period_from, row.cents]);
}

test("Records exactly what a model has room for, message by message, in periods that began before their budgets were set", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(withProvider, { maxLength: 10 }),
      fc.array(withProvider, { minLength: 10, maxLength: 40 }),
      fc.array(budget, { minLength: 1, maxLength: 4 }),
      async (earlier, postings, models) => {
        const { ids, slugs, clients } = await prepare(models, earlier);
        const firsts = models.map(presentPeriod);
        const answer = await clients[0]?.call("POST", "/api/v1/messages/batch", {
          messages: postings.map((each) => messageOf(each, slugs)),
        });
        const results = answer?.body.results as { status: number }[];
        const recorded = earlier.map(asRecorded);
        const wanted = postings.map(asRecorded).map((each) => {
          if (!hasRoom(models, firsts, recorded, each)) return 402;
          recorded.push(each);
          return 201;
        });
        expect(results.map(({ status }) => status)).toEqual(wanted);
        for (const [index, model] of models.entries()) {
          const counted = [...spentByPeriod(model, recorded)].filter(
            ([period]) => period >= (firsts[index] ?? ""),
          );
          expect(await spentOf(ids[index] ?? "")).toEqual(counted.sort());
        }
      },
    ),
    { numRuns: runs, endOnFailure: true },
  );
});

test("Passes no budget in any period, whatever is sent at once to two processes", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(withProvider, { minLength: 20, maxLength: 60 }),
      fc.array(budget, { minLength: 1, maxLength: 4 }),
      async (postings, models) => {
        const { ids, slugs, clients } = await prepare(models);
        const answers = await Promise.all(
          postings.map((each, index) => clients[index % 2]?.post(messageOf(each, slugs))),
        );
        expect(new Set([201, 402, ...answers.map((answer) => answer?.status)])).toEqual(new Set([201, 402]));
        for (const [index, model] of models.entries()) {
          for (const [, spent] of await spentOf(ids[index] ?? "")) {
            expect(spent).toBeLessThanOrEqual(model.amount_cents);
          }
        }
      },
    ),
    { numRuns: runs, endOnFailure: true },
  );
});
