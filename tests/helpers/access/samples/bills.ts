import { randomUUID } from "node:crypto";
import type { World } from "../callers";
import { nothing, type Sample, type Samples } from "../sample";

/** A budget of its own, and an account at a provider. */
async function limitable(world: World) {
  const { rows } = await world.harness.fixtures.sql.query(
    "insert into public.budgets (workspace_id, name, scope_type, amount) values ($1, 'Limited', 'global', 500) returning id",
    [world.workspace.id],
  );
  const { params } = await providerAccountOf(world);
  await world.harness.fixtures.sql.query(
    "insert into private.provider_keys (workspace_id, account_id, sealed) values ($1, $2, repeat('x', 40))",
    [world.workspace.id, params?.id],
  );
  return { budget: String(rows[0].id), account: String(params?.id) };
}

/** A limit at a provider that follows a budget. */
async function providerLimitOf(world: World): Promise<Sample> {
  const { budget, account } = await limitable(world);
  const { rows } = await world.harness.fixtures.sql.query(
    `insert into public.provider_limits (workspace_id, budget_id, account_id, provider, account, kind, target, period, removes)
     values ($1, $2, $3, 'openai', '', 'project', 'proj_1', 'month', true) returning id`,
    [world.workspace.id, budget, account],
  );
  return { params: { id: rows[0].id } };
}

/** An account at a provider. */
async function providerAccountOf({ harness, workspace }: World): Promise<Sample> {
  const { rows } = await harness.fixtures.sql.query(
    `insert into public.provider_accounts (workspace_id, id, provider, account, since)
     values ($1, gen_random_uuid(), 'openai', gen_random_uuid()::text, '2026-10-01') returning id`,
    [workspace.id],
  );
  return { params: { id: rows[0].id } };
}

/** An account at a provider that sends telemetry, with a key that cannot be opened, so that nobody is asked. */
async function tellingAccountOf({ harness, workspace }: World): Promise<Sample> {
  const { rows } = await harness.fixtures.sql.query(
    `with account as (
       insert into public.provider_accounts (workspace_id, id, provider, account, since)
       values ($1, gen_random_uuid(), 'anthropic', gen_random_uuid()::text, '2026-10-01') returning *
     )
     insert into private.provider_keys (workspace_id, account_id, sealed)
     select workspace_id, id, repeat('x', 40) from account returning account_id`,
    [workspace.id],
  );
  return { params: { id: rows[0].account_id } };
}

/** Such an account whose telemetry is registered. */
async function registeredAccountOf(world: World): Promise<Sample> {
  const { params } = await tellingAccountOf(world);
  await world.harness.fixtures.sql.query(
    `with key as (
       insert into public.api_keys (workspace_id, name, permissions) values ($1, 'Claude platform', '{log_usage}') returning id
     )
     insert into public.provider_telemetry (workspace_id, account_id, provider, account, key_id, state)
     select $1, $2, 'anthropic', '', key.id, 'registered' from key`,
    [world.workspace.id, params?.id],
  );
  return { params: { id: String(params?.id) } };
}

/** What providers bill, and limits there. */
export const billSamples: Samples = {
  "GET /api/v1/reconciliation": () => ({ query: "?month=2026-10" }),
  "GET /api/v1/workspaces/[slug]/reconciliation": () => ({ query: "?month=2026-10" }),
  "GET /api/v1/workspaces/[slug]/reconciliation/export": async ({ harness, workspace }) => {
    await harness.fixtures.sql.query(
      `with bill as (
         insert into public.bills (workspace_id, name, format, sha256, row_count)
         values ($1, 'september.csv', 'csv', encode(sha256(gen_random_uuid()::text::bytea), 'hex'), 1) returning id
       )
       insert into public.bill_statements (workspace_id, id, bill_id, provider, starts_on, ends_on, amount_usd)
       select $1, gen_random_uuid(), id, 'openai', '2026-09-01', '2026-09-02', 1 from bill`,
      [workspace.id],
    );
    return { query: "?month=2026-09" };
  },
  "GET /api/v1/workspaces/[slug]/bills": nothing,
  "POST /api/v1/workspaces/[slug]/bills": () => ({
    body: { name: "october.csv", content: `day,amount,provider\n2026-10-01,1,${randomUUID()}` },
  }),
  "DELETE /api/v1/workspaces/[slug]/bills/[id]": async ({ harness, workspace }) => {
    const { rows } = await harness.fixtures.sql.query(
      `insert into public.bills (workspace_id, name, format, sha256, row_count)
       values ($1, 'october.csv', 'csv', encode(sha256(gen_random_uuid()::text::bytea), 'hex'), 1) returning id`,
      [workspace.id],
    );
    await harness.fixtures.sql.query(
      `insert into public.bill_statements (workspace_id, id, bill_id, provider, starts_on, ends_on, amount_usd)
       values ($1, gen_random_uuid(), $2, 'openai', '2026-10-01', '2026-10-02', 1)`,
      [workspace.id, rows[0].id],
    );
    return { params: { id: rows[0].id } };
  },
  "GET /api/v1/workspaces/[slug]/bill-adjustments": () => ({ query: "?month=2026-10" }),
  "POST /api/v1/workspaces/[slug]/bill-adjustments": async ({ harness, workspace }) => {
    const provider = randomUUID();
    await harness.fixtures.sql.query(
      `with bill as (
         insert into public.bills (workspace_id, name, format, sha256, row_count)
         values ($1, 'october.csv', 'csv', encode(sha256(gen_random_uuid()::text::bytea), 'hex'), 1) returning id
       ), statement as (
         insert into public.bill_statements (workspace_id, id, bill_id, provider, starts_on, ends_on, amount_usd)
         select $1, gen_random_uuid(), id, $2, '2026-10-01', '2026-10-02', 1 from bill returning id
       )
       insert into public.billed_facts (workspace_id, statement_id, model, amount_usd) select $1, id, 'gpt-5', 1 from statement`,
      [workspace.id, provider],
    );
    return { body: { month: "2026-10", project: "checkout", provider } };
  },
  "DELETE /api/v1/workspaces/[slug]/bill-adjustments/[id]": async ({ harness, workspace }) => {
    const { rows } = await harness.fixtures.sql.query(
      `insert into public.bill_adjustments (workspace_id, id, month, project_id, amount_usd, message_count)
       values ($1, gen_random_uuid(), '2026-10-01', gen_random_uuid(), 1, 1) returning id`,
      [workspace.id],
    );
    return { params: { id: rows[0].id } };
  },
  "GET /api/v1/workspaces/[slug]/billed-history": nothing,
  "GET /api/v1/workspaces/[slug]/provider-accounts": nothing,
  "POST /api/v1/workspaces/[slug]/provider-accounts": async ({ harness, workspace }) => {
    await harness.fixtures.sql.query("delete from public.provider_accounts where workspace_id = $1", [
      workspace.id,
    ]);
    return { body: { provider: "openai", key: "sk-admin-of-a-sample" } };
  },
  "DELETE /api/v1/workspaces/[slug]/provider-accounts/[id]": providerAccountOf,
  "POST /api/v1/workspaces/[slug]/provider-accounts/[id]/pull": async (world) => ({
    ...(await providerAccountOf(world)),
    body: {},
  }),
  "GET /api/v1/workspaces/[slug]/provider-accounts/[id]/limit-targets": async (world) => {
    const { budget, account } = await limitable(world);
    return { params: { id: account }, query: `?budget_id=${budget}` };
  },
  "POST /api/v1/workspaces/[slug]/provider-accounts/[id]/telemetry": async (world) => ({
    ...(await tellingAccountOf(world)),
    body: { project: "checkout" },
  }),
  "DELETE /api/v1/workspaces/[slug]/provider-accounts/[id]/telemetry": async (world) => ({
    ...(await registeredAccountOf(world)),
    query: "?destination=leave",
  }),
  "POST /api/v1/workspaces/[slug]/provider-accounts/[id]/telemetry/check": registeredAccountOf,
  "GET /api/v1/workspaces/[slug]/provider-limits": nothing,
  "POST /api/v1/workspaces/[slug]/provider-limits": async (world) => {
    const { budget, account } = await limitable(world);
    return { body: { budget_id: budget, account_id: account, kind: "project", target_id: "proj_1" } };
  },
  "DELETE /api/v1/workspaces/[slug]/provider-limits/[id]": providerLimitOf,
  "POST /api/v1/workspaces/[slug]/provider-limits/[id]/resolve": async (world) => ({
    ...(await providerLimitOf(world)),
    body: { action: "check" },
  }),
};
