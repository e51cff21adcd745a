import { randomUUID } from "node:crypto";
import { apiClient, costMessage } from "@/tests/helpers/client";
import type { Caller, World } from "./callers";

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

/** For every endpoint of the service, by method and path. A route without one fails the test that looks for it. */
export const samples: Record<string, MakeSample> = {
  "GET /api/health": none,
  "GET /api/openapi.json": none,
  "GET /api/v1/me": none,
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
