import { randomUUID } from "node:crypto";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { addMember, type Caller, type World } from "./callers";

/** A call that succeeds for whoever may make it: the path's parameters beside `slug`, the query and the body. */
export type Sample = { params?: Record<string, string>; query?: string; body?: unknown };

/** Makes a call of its own for each caller: what one of them changed is never in the way of the next. */
type MakeSample = (world: World, caller: Caller) => Promise<Sample> | Sample;

const none: MakeSample = () => ({});
const makeProject = (world: World, slug = `p-${randomUUID()}`) =>
  world.harness.fixtures.project(world.workspace.id, slug).then(() => slug);

const recordMessage = async (world: World) => {
  const { body } = await apiClient(world.baseUrl, world.credentials["an API key"]).post(costMessage());
  return String(body.id);
};

/** A key that the caller made themselves, where they belong to the workspace. */
async function makeKey(world: World, caller: Caller): Promise<string> {
  const { fixtures } = world.harness;
  const { id } = await fixtures.key(world.workspace.id);
  const maker = (world.users as Partial<Record<Caller, { id: string }>>)[caller];
  await fixtures.sql.query("update public.api_keys set created_by = $2 where id = $1", [
    id,
    maker?.id ?? null,
  ]);
  return id;
}

async function makeBudget(world: World): Promise<string> {
  const { rows } = await world.harness.fixtures.sql.query(
    "insert into public.budgets (workspace_id, name, scope_type, amount) values ($1, 'All', 'global', 100) returning id",
    [world.workspace.id],
  );
  return rows[0].id;
}

/** An invitation by the owner, as a row and as what its link ends in. */
async function makeInvitation(world: World): Promise<{ id: string; token: string }> {
  const path = `/api/v1/workspaces/${world.workspace.slug}/invitations`;
  const { body } = await apiClient(world.baseUrl, world.users.owner.token).call("POST", path, {
    role: "viewer",
  });
  const { id } = body.invitation as { id: string };
  return { id, token: String(body.link).split("/").at(-1) ?? "" };
}

/** The second of two owners, so that the giver of the ownership can be the first again. */
async function regainOwnership(world: World): Promise<void> {
  await world.harness.fixtures.sql.query(
    "update public.workspace_members set role = 'owner' where workspace_id = $1 and user_id = $2",
    [world.workspace.id, world.users.owner.id],
  );
}

/** For every endpoint of the service, by method and path. A route without one fails the test that looks for it. */
export const samples: Record<string, MakeSample> = {
  "GET /api/health": none,
  "GET /api/openapi.json": none,
  "GET /api/v1/me": none,
  "PATCH /api/v1/me": () => ({ body: { display_name: "Ada" } }),
  "GET /api/v1/invitations/[token]": async (world) => ({
    params: { token: (await makeInvitation(world)).token },
  }),
  "POST /api/v1/invitations/[token]/accept": async (world) => ({
    params: { token: await inviteElsewhere(world) },
  }),
  "POST /api/v1/workspaces": () => ({ body: { name: `Team ${randomUUID()}` } }),
  "PATCH /api/v1/workspaces/[slug]": () => ({ body: { description: "Renamed" } }),
  "GET /api/v1/workspaces/[slug]/org": none,
  "PATCH /api/v1/workspaces/[slug]/members/[user_id]": async (world) => ({
    params: { user_id: (await addMember(world.harness, world.workspace.id, "viewer")).id },
    body: { role: "member" },
  }),
  "DELETE /api/v1/workspaces/[slug]/members/[user_id]": leaveAndReturn,
  "POST /api/v1/workspaces/[slug]/transfer": async (world) => {
    await regainOwnership(world);
    return { body: { user_id: (await addMember(world.harness, world.workspace.id, "viewer")).id } };
  },
  "GET /api/v1/workspaces/[slug]/invitations": none,
  "POST /api/v1/workspaces/[slug]/invitations": () => ({ body: { role: "viewer" } }),
  "DELETE /api/v1/workspaces/[slug]/invitations/[id]": async (world) => ({
    params: { id: (await makeInvitation(world)).id },
  }),
  "GET /api/v1/workspaces/[slug]/projects": none,
  "PATCH /api/v1/workspaces/[slug]/projects/[project]": async (world) => ({
    params: { project: await makeProject(world) },
    body: { archived: true },
  }),
  "GET /api/v1/workspaces/[slug]/audit": none,
  "POST /api/v1/messages": () => ({ body: costMessage() }),
  "POST /api/v1/messages/batch": () => ({ body: { messages: [costMessage()] } }),
  "GET /api/v1/summary/month": none,
  "GET /api/v1/budgets/status": none,
  "GET /api/v1/projects/[slug]/spend": async (world) => ({ params: { slug: await makeProject(world) } }),
  "GET /api/v1/workspaces/[slug]/prices": none,
  "PUT /api/v1/workspaces/[slug]/prices": () => ({
    body: {
      provider: "in-house",
      model: randomUUID(),
      unit_type: "input_tokens",
      rate: 0.5,
      starts_at: "2026-11-01T00:00:00Z",
    },
  }),
  "GET /api/v1/workspaces/[slug]/unpriced": none,
  "GET /api/v1/workspaces/[slug]/api-keys": none,
  "POST /api/v1/workspaces/[slug]/api-keys": () => ({ body: { name: "CI", permissions: ["log_usage"] } }),
  "PATCH /api/v1/workspaces/[slug]/api-keys/[id]": async (world, caller) => ({
    params: { id: await makeKey(world, caller) },
    body: { name: "Renamed" },
  }),
  "DELETE /api/v1/workspaces/[slug]/api-keys/[id]": async (world, caller) => ({
    params: { id: await makeKey(world, caller) },
  }),
  "POST /api/v1/workspaces/[slug]/api-keys/[id]/rotate": async (world, caller) => ({
    params: { id: await makeKey(world, caller) },
  }),
  "GET /api/v1/workspaces/[slug]/budgets": none,
  "POST /api/v1/workspaces/[slug]/budgets": () => ({ body: { scope_type: "global", amount: 100 } }),
  "GET /api/v1/workspaces/[slug]/budgets/[id]": async (world) => ({
    params: { id: await makeBudget(world) },
  }),
  "PATCH /api/v1/workspaces/[slug]/budgets/[id]": async (world) => ({
    params: { id: await makeBudget(world) },
    body: { amount: 200 },
  }),
  "DELETE /api/v1/workspaces/[slug]/budgets/[id]": async (world) => ({
    params: { id: await makeBudget(world) },
  }),
  "GET /api/v1/workspaces/[slug]/activity": none,
  "GET /api/v1/workspaces/[slug]/metrics": none,
  "GET /api/v1/workspaces/[slug]/messages/[id]": async (world) => ({
    params: { id: await recordMessage(world) },
  }),
  "GET /api/v1/workspaces/[slug]/subscriptions": none,
  "DELETE /api/v1/workspaces/[slug]/subscriptions/[id]": async (world) => {
    const { sql } = world.harness.fixtures;
    const project = await world.harness.fixtures.project(world.workspace.id, `p-${randomUUID()}`);
    const { rows } = await sql.query(
      `insert into public.recurring_subscriptions
         (workspace_id, id, project_id, source, environment, message, period, anchor_on, next_on, created_at)
       values ($1, gen_random_uuid(), $2, 'api', 'live', $3, 'month', '2026-11-01', '2026-12-01', now()) returning id`,
      [
        world.workspace.id,
        project,
        { type: "subscription", vendor: "Figma", amount: "45", currency: "USD", interval: "month" },
      ],
    );
    return { params: { id: rows[0].id } };
  },
};
