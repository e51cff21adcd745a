import { expect, test } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness();
const clientOf = (secret: string) => apiClient(harness.services[0]?.baseUrl ?? "", secret);

/** Folds every day of a workspace, of today too: the job folds it later, and a new month has no older days. */
async function foldToday(workspace: string): Promise<void> {
  await harness.fixtures.sql.query(
    `with folds as (
       insert into public.spend_folds (workspace_id, folded_until) values ($1, (now() at time zone 'UTC')::date + 1)
     ), months as (
       insert into public.monthly_spend (
         workspace_id, month, project_id, api_key_id, type, provider, model, feature, source, environment, amount_usd,
         message_count, item_count, unpriced_count, end_user, tags, included_usd
       )
       select workspace_id, date_trunc('month', day)::date, project_id, api_key_id, type, provider, model, feature, source,
         environment, amount_usd, message_count, item_count, unpriced_count, end_user, tags, included_usd
       from public.daily_spend where workspace_id = $1
     )
     insert into public.monthly_totals
     select workspace_id, environment, dimension, date_trunc('month', day)::date, value, type, amount_usd, message_count,
       unpriced_count, included_usd
     from public.daily_totals where workspace_id = $1`,
    [workspace],
  );
}

test("Has the same figures whether days are folded or not, for what each key may see", async () => {
  const { fixtures } = harness;
  const workspace = await fixtures.workspace();
  const all = await fixtures.key(workspace);
  const ofTests = await fixtures.key(workspace, { environment: "test" });
  const ofSearch = await fixtures.key(workspace, { conditions: { project_slugs: ["search"] } });
  const record = async (secret: string, project: string, message: Record<string, unknown>) =>
    expect((await clientOf(secret).post(costMessage(message, { project }))).status).toBe(201);
  await record(all.secret, "checkout", { estimated_cost: 0.1 });
  await record(all.secret, "search", { estimated_cost: 0.02 });
  await record(all.secret, "search", { estimated_cost: undefined, model: "unknown-model" });
  await record(ofTests.secret, "checkout", { estimated_cost: 0.004 });

  const summaries = () =>
    Promise.all(
      [all, ofTests, ofSearch].map(
        async ({ secret }) => (await clientOf(secret).get("/api/v1/summary/month")).body,
      ),
    );
  const before = await summaries();
  expect(before.map(({ total_usd: total }) => total)).toEqual([0.12, 0.004, 0.02]);
  await foldToday(workspace);
  expect(await ledgerDifferences(fixtures, workspace)).toEqual([]);
  expect(await summaries()).toEqual(before);
});
