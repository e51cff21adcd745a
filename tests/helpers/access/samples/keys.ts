import type { Caller, World } from "../callers";
import { deleted } from "../deleted";
import { nothing, type Sample, type Samples } from "../sample";

/** A key of the caller's own if they are a member, because members may manage only keys that they made. */
async function keyOf(world: World, caller: Caller): Promise<Sample> {
  const { sql } = world.harness.fixtures;
  const { id } = await world.harness.fixtures.key(world.workspace.id);
  const maker = caller in world.users ? world.users[caller as keyof World["users"]] : world.users.owner;
  await sql.query("update public.api_keys set created_by = $1 where id = $2", [maker.id, id]);
  return { params: { id } };
}

async function budgetOf({ harness, workspace }: World): Promise<Sample> {
  const { rows } = await harness.fixtures.sql.query(
    "insert into public.budgets (workspace_id, name, scope_type, amount) values ($1, 'All of it', 'global', 100) returning id",
    [workspace.id],
  );
  return { params: { id: rows[0].id } };
}

/** A pending request for more of a budget of the caller's own if they are a member: theirs, or with `isOwned` of a budget that they own. */
async function requestOf(world: World, caller: Caller, isOwned: boolean): Promise<Sample> {
  const { sql } = world.harness.fixtures;
  const { params } = await budgetOf(world);
  const user = caller in world.users ? world.users[caller as keyof World["users"]] : world.users.owner;
  await sql.query("update public.budgets set owner_id = $1 where id = $2", [user.id, params?.id]);
  const { rows } = await sql.query(
    `insert into public.budget_requests (workspace_id, budget_id, requested_by, amount, reason, until)
     values ($1, $2, $3, 1, 'A launch', current_date + 7) returning id`,
    [world.workspace.id, params?.id, isOwned ? null : user.id],
  );
  return { params: { id: rows[0].id } };
}

async function askFor(world: World): Promise<Sample> {
  const { params } = await budgetOf(world);
  const until = new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10);
  return { body: { budget_id: params?.id, amount: 1, reason: "A launch", until } };
}

/** Keys and budgets. */
export const keySamples: Samples = {
  "GET /api/v1/workspaces/[slug]/api-keys": nothing,
  "POST /api/v1/workspaces/[slug]/api-keys": () => ({ body: { name: "CI", permissions: ["log_usage"] } }),
  "PATCH /api/v1/workspaces/[slug]/api-keys/[id]": async (world, caller) => ({
    ...(await keyOf(world, caller)),
    body: { monthly_limit: 5 },
  }),
  "DELETE /api/v1/workspaces/[slug]/api-keys/[id]": keyOf,
  "POST /api/v1/workspaces/[slug]/api-keys/[id]/rotate": keyOf,
  "GET /api/v1/workspaces/[slug]/sources": nothing,
  "GET /api/v1/workspaces/[slug]/sources/[id]": keyOf,
  "POST /api/v1/workspaces/[slug]/sources/[id]/replay": keyOf,
  "GET /api/v1/workspaces/[slug]/budgets": nothing,
  "POST /api/v1/workspaces/[slug]/budgets": () => ({ body: { scope_type: "global", amount: 50 } }),
  "POST /api/v1/workspaces/[slug]/budgets/preview": () => ({ body: { scope_type: "global", amount: 50 } }),
  "GET /api/v1/workspaces/[slug]/budgets/[id]": budgetOf,
  "PATCH /api/v1/workspaces/[slug]/budgets/[id]": async (world) => ({
    ...(await budgetOf(world)),
    body: { amount: 60 },
  }),
  "DELETE /api/v1/workspaces/[slug]/budgets/[id]": budgetOf,
  "POST /api/v1/workspaces/[slug]/budgets/[id]/restore": async (world) =>
    deleted(world, "budgets", await budgetOf(world)),
  "GET /api/v1/budget-requests": nothing,
  "POST /api/v1/budget-requests": askFor,
  "GET /api/v1/workspaces/[slug]/budget-requests": nothing,
  "POST /api/v1/workspaces/[slug]/budget-requests": askFor,
  "DELETE /api/v1/workspaces/[slug]/budget-requests/[id]": (world, caller) => requestOf(world, caller, false),
  "POST /api/v1/workspaces/[slug]/budget-requests/[id]/decision": async (world, caller) => ({
    ...(await requestOf(world, caller, true)),
    body: { decision: "deny" },
  }),
};
