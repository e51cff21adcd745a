import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { expect } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { heliconeCall, sign } from "@/tests/helpers/gateways";
import type { Caller, World } from "../callers";
import { deleted } from "../deleted";
import { nothing, type Sample, type Samples } from "../sample";

const newProject = (world: World, slug: string) => world.harness.fixtures.project(world.workspace.id, slug);

const signingSecret = "whk_5f1c3b0a9d8e7f6a5b4c3d2e1f0a9b8c";

/** A webhook of Helicone, whose signature is its credential. */
async function signedDelivery({ harness, workspace }: World) {
  const { id } = await harness.fixtures.key(workspace.id);
  await harness.fixtures.sql.query("select private.keep_signing_secret($1, 'helicone', $2)", [
    id,
    signingSecret,
  ]);
  const body = heliconeCall();
  const signature = sign(JSON.stringify(body), signingSecret);
  return { query: `?key_id=${id}`, headers: { "helicone-signature": signature }, body };
}

/** The caller, if they are a member; otherwise the owner. */
const memberOf = ({ users }: World, caller: Caller) =>
  caller in users ? users[caller as keyof World["users"]] : users.owner;

const reservationBody = {
  project: "checkout",
  message: { type: "usage", provider: "openai", unit_type: "requests", quantity: 1, estimated_cost: 0.01 },
};

/** The id of a reservation of the caller; of none for callers who may not make one. */
async function ownReservation({ baseUrl, credentials }: World, caller: Caller): Promise<string> {
  const { body } = await apiClient(baseUrl, credentials[caller]).call(
    "POST",
    "/api/v1/reservations",
    reservationBody,
  );
  return typeof body.id === "string" ? body.id : randomUUID();
}

/** A private view of the caller. */
async function viewOf(world: World, caller: Caller): Promise<Sample> {
  const { rows } = await world.harness.fixtures.sql.query(
    "insert into public.saved_views (workspace_id, name, query, created_by) values ($1, 'Models', 'by=model', $2) returning id",
    [world.workspace.id, memberOf(world, caller).id],
  );
  return { params: { id: rows[0].id } };
}

/** The id of a cost that the caller recorded by hand, if they may record: members void only what they recorded themselves. */
async function ownCost({ baseUrl, users, workspace }: World, caller: Caller): Promise<string> {
  const maker = caller === "member" || caller === "admin" ? users[caller] : users.owner;
  const { body } = await apiClient(baseUrl, maker.token).call(
    "POST",
    `/api/v1/workspaces/${workspace.slug}/messages/batch`,
    { messages: [costMessage({}, { source: "manual" })] },
  );
  return String((body as { results: { id: string }[] }).results[0]?.id);
}

/** The id of an action of the caller, or of the owner where they may do none. */
async function ownBulkAction(world: World, caller: Caller): Promise<string> {
  const messages = [await ownCost(world, caller)];
  const { status, body } = await apiClient(
    world.baseUrl,
    memberOf(world, caller === "viewer" ? "owner" : caller).token,
  ).call("POST", `/api/v1/workspaces/${world.workspace.slug}/messages/bulk-actions`, {
    action: "void",
    messages,
    reason: "Recorded twice.",
  });
  expect(status).toBe(201);
  return String(body.id);
}

/** A workspace in which nothing is closed. */
async function openAgain({ harness, workspace }: World): Promise<void> {
  await harness.fixtures.sql.query("delete from public.closed_months where workspace_id = $1", [
    workspace.id,
  ]);
  await harness.fixtures.sql.query("update public.workspaces set closed_until = null where id = $1", [
    workspace.id,
  ]);
}

/** A month that is closed, with an empty filed export. */
async function closedMonth(world: World): Promise<Sample> {
  const { sql } = world.harness.fixtures;
  await openAgain(world);
  const { rows } = await sql.query(
    `insert into public.closed_months (workspace_id, month, amount_usd, adjustments_usd, message_count, unpriced_count, sha256, byte_count)
     values ($1, '2020-01-01', 0, 0, 0, 0, repeat('0', 64), 0) returning id`,
    [world.workspace.id],
  );
  await sql.query("update public.workspaces set closed_until = '2020-02-01' where id = $1", [
    world.workspace.id,
  ]);
  await sql.query("insert into private.filed_exports values ($1, $2, 0, $3)", [
    world.workspace.id,
    rows[0].id,
    gzipSync(""),
  ]);
  return { params: { id: rows[0].id } };
}

/** Recording costs, and reading sums. */
export const ledgerSamples: Samples = {
  "GET /api/health": nothing,
  "GET /api/openapi.json": nothing,
  "POST /api/v1/messages": () => ({ body: costMessage() }),
  "POST /api/v1/messages/batch": () => ({ body: { messages: [costMessage()] } }),
  "POST /api/otlp/v1/traces": () => ({ body: {} }),
  "POST /api/otlp/v1/metrics": () => ({ body: {} }),
  "POST /api/otlp/v1/logs": () => ({ body: {} }),
  "POST /api/public/otel/v1/traces": () => ({ body: {} }),
  "POST /api/v1/sources/litellm": () => ({ body: [] }),
  "POST /api/v1/sources/openrouter": () => ({ body: {} }),
  "PUT /api/v1/sources/openrouter": () => ({ body: {} }),
  "POST /api/v1/sources/helicone": signedDelivery,
  "PUT /api/v1/sources/helicone/secret": () => ({ body: { secret: signingSecret } }),
  "DELETE /api/v1/sources/helicone/secret": nothing,
  "GET /api/v1/summary/month": nothing,
  "GET /api/v1/closed-months": nothing,
  "GET /api/v1/budgets/status": nothing,
  "GET /api/v1/limits": nothing,
  "POST /api/v1/reservations": () => ({ body: reservationBody }),
  "GET /api/v1/reservations/[id]": async (world, caller) => ({
    params: { id: await ownReservation(world, caller) },
  }),
  "DELETE /api/v1/reservations/[id]": async (world, caller) => ({
    params: { id: await ownReservation(world, caller) },
  }),
  "GET /api/v1/projects/[slug]/spend": async (world) => {
    const slug = `p-${randomUUID()}`;
    await newProject(world, slug);
    return { params: { slug } };
  },
  "POST /api/v1/spend/query": () => ({ body: { group_by: ["project", "day"] } }),
  "POST /api/v1/workspaces/[slug]/spend/query": () => ({
    body: { group_by: ["model", "unit"], measure: "tokens", filters: [{ field: "type", values: ["usage"] }] },
  }),
  "GET /api/v1/workspaces/[slug]/closed-months": nothing,
  "POST /api/v1/workspaces/[slug]/closed-months": async (world) => {
    await openAgain(world);
    return { body: { month: "2020-01" } };
  },
  "POST /api/v1/workspaces/[slug]/closed-months/[id]/reopen": async (world) => ({
    ...(await closedMonth(world)),
    body: { reason: "A late invoice." },
  }),
  "GET /api/v1/workspaces/[slug]/closed-months/[id]/export": closedMonth,
  "GET /api/v1/recommendations": nothing,
  "GET /api/v1/workspaces/[slug]/recommendations": nothing,
  "POST /api/v1/workspaces/[slug]/recommendations": async ({ harness, workspace }) => {
    await harness.fixtures.sql.query("delete from public.recommendation_runs where workspace_id = $1", [
      workspace.id,
    ]);
    return {};
  },
  "POST /api/v1/workspaces/[slug]/recommendations/[id]/decision": async ({ harness, workspace }) => {
    const { rows } = await harness.fixtures.sql.query(
      `insert into public.recommendations (workspace_id, kind, subject, provider, recorded_usd, repriced_usd, records,
         first_day, last_day, computed_at)
       values ($1, 'batch_tier', jsonb_build_object('feature', gen_random_uuid()), 'openai', 2, 1, 3, '2026-10-01', '2026-10-30', now())
       returning id`,
      [workspace.id],
    );
    return { params: { id: rows[0].id }, body: { decision: "accept" } };
  },
  "GET /api/v1/workspaces/[slug]/views": nothing,
  "POST /api/v1/workspaces/[slug]/views": () => ({ body: { name: "Models", query: "by=model" } }),
  "DELETE /api/v1/workspaces/[slug]/views/[id]": viewOf,
  "POST /api/v1/workspaces/[slug]/views/[id]/restore": async (world, caller) =>
    deleted(world, "views", await viewOf(world, caller), memberOf(world, caller)),
  "GET /api/v1/workspaces/[slug]/names": () => ({ query: "?q=feature" }),
  "GET /api/v1/workspaces/[slug]/metrics": () => ({ query: "?period=year&group_by=model" }),
  "GET /api/v1/workspaces/[slug]/activity": () => ({ query: "?period=all&limit=1" }),
  "GET /api/v1/workspaces/[slug]/sessions": () => ({ query: "?period=all&limit=1" }),
  "GET /api/v1/workspaces/[slug]/export": () => ({ query: "?format=csv" }),
  "POST /api/v1/workspaces/[slug]/messages/batch": () => ({
    body: { messages: [costMessage({}, { source: "manual" })] },
  }),
  "GET /api/v1/workspaces/[slug]/messages/[id]": async (world) => {
    const answer = await fetch(`${world.baseUrl}/api/v1/messages`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${world.credentials["an API key"]}`,
        "content-type": "application/json",
      },
      body: JSON.stringify(costMessage()),
    });
    const { id } = await answer.json();
    return { params: { id } };
  },
  "GET /api/v1/workspaces/[slug]/prices": nothing,
  "PUT /api/v1/workspaces/[slug]/prices": () => ({
    body: {
      provider: "in-house",
      model: randomUUID(),
      unit_type: "input_tokens",
      rate: 0.5,
      starts_at: "2026-11-01T00:00:00Z",
    },
  }),
  "POST /api/v1/workspaces/[slug]/messages/[id]/void": async (world, caller) => ({
    params: { id: await ownCost(world, caller) },
    body: { reason: "Recorded twice." },
  }),
  "POST /api/v1/workspaces/[slug]/messages/bulk-actions": async (world, caller) => ({
    body: { action: "void", messages: [await ownCost(world, caller)], reason: "Recorded twice." },
  }),
  "POST /api/v1/workspaces/[slug]/messages/bulk-actions/[id]/restore": async (world, caller) => ({
    params: { id: await ownBulkAction(world, caller) },
  }),
  "POST /api/v1/workspaces/[slug]/messages/[id]/correct": async (world, caller) => {
    const project = `p-${randomUUID()}`;
    await newProject(world, project);
    const message = { type: "expense", vendor: "Hetzner", amount: 2 };
    return {
      params: { id: await ownCost(world, caller) },
      body: { reason: "A wrong amount.", project, message },
    };
  },
  "GET /api/v1/workspaces/[slug]/unpriced": nothing,
  "GET /api/v1/workspaces/[slug]/subscriptions": nothing,
  "DELETE /api/v1/workspaces/[slug]/subscriptions/[id]": async (world) => {
    const message = {
      type: "subscription",
      vendor: "Figma",
      amount: "45",
      currency: "USD",
      interval: "month",
    };
    const { rows } = await world.harness.fixtures.sql.query(
      `insert into public.recurring_subscriptions
         (workspace_id, id, project_id, source, environment, message, period, anchor_on, next_on, created_at)
       values ($1, gen_random_uuid(), $2, 'api', 'live', $3, 'month', '2026-11-01', '2026-12-01', now()) returning id`,
      [world.workspace.id, await newProject(world, `p-${randomUUID()}`), message],
    );
    return { params: { id: rows[0].id } };
  },
};
