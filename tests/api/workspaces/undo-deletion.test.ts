import { beforeAll, describe, expect, test } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { addUser } from "@/tests/helpers/team";

const harness = withSharedHarness();
const baseUrl = () => harness.services[0]?.baseUrl ?? "";

type Client = ReturnType<typeof apiClient>;
let path: string;
let workspace: string;
const clients = {} as Record<"owner" | "admin" | "member" | "viewer", Client>;
let stranger: Client;

beforeAll(async () => {
  workspace = await harness.fixtures.workspace();
  const { rows } = await harness.fixtures.sql.query("select slug from public.workspaces where id = $1", [
    workspace,
  ]);
  path = `/api/v1/workspaces/${rows[0].slug}`;
  for (const role of ["owner", "admin", "member", "viewer"] as const)
    clients[role] = apiClient(baseUrl(), (await addUser(harness, workspace, role)).token);
  const elsewhere = await harness.fixtures.workspace();
  stranger = apiClient(baseUrl(), (await addUser(harness, elsewhere, "owner")).token);
});

const sqlOf = async (text: string, ...values: unknown[]) =>
  (await harness.fixtures.sql.query(text, values)).rows;

/** Makes, deletes and restores one thing of each kind, as an owner. */
const kinds = {
  budgets: () => ({ name: "All", scope_type: "global", amount: 100, alert_at: { percent: [50], usd: [] } }),
  views: () => ({ name: "Models", query: "by=model", is_shared: true }),
  invitations: () => ({ role: "viewer" }),
  "alert-channels": () => ({ kind: "webhook", name: "Ops", url: "https://hooks.example.com/outlay" }),
};

/** @returns the id of something new */
async function make(kind: keyof typeof kinds): Promise<string> {
  const { status, body } = await clients.owner.call("POST", `${path}/${kind}`, kinds[kind]());
  expect(status, JSON.stringify(body)).toBe(201);
  return String((body.invitation as { id: string } | undefined)?.id ?? body.id);
}

const listOf = async (kind: keyof typeof kinds) =>
  Object.values((await clients.owner.get(`${path}/${kind}`)).body)[0] as { id: string }[];

describe.each(Object.keys(kinds) as (keyof typeof kinds)[])("Undoing the deletion of %s", (kind) => {
  test("Restores it as it was, once", async () => {
    const id = await make(kind);
    const before = (await listOf(kind)).find((each) => each.id === id);
    expect(before).toBeDefined();
    expect((await clients.owner.call("DELETE", `${path}/${kind}/${id}`)).status).toBe(200);
    expect((await listOf(kind)).map((each) => each.id)).not.toContain(id);
    expect((await clients.owner.call("POST", `${path}/${kind}/${id}/restore`)).status).toBe(200);
    expect((await listOf(kind)).find((each) => each.id === id)).toEqual(before);
    expect((await clients.owner.call("POST", `${path}/${kind}/${id}/restore`)).status).toBe(404);
  });

  test("Is refused to whoever may not delete it, and keeps it deleted", async () => {
    const id = await make(kind);
    for (const client of [clients.member, clients.viewer, stranger]) {
      expect((await client.call("DELETE", `${path}/${kind}/${id}`)).status).toBeGreaterThanOrEqual(403);
    }
    // A deletion that was refused leaves nothing to restore.
    expect(await sqlOf("select from private.deleted_things where id = $1", id)).toEqual([]);
    await clients.owner.call("DELETE", `${path}/${kind}/${id}`);
    for (const client of [clients.member, clients.viewer, stranger]) {
      const answer = await client.call("POST", `${path}/${kind}/${id}/restore`);
      expect([403, 404]).toContain(answer.status);
    }
    expect((await listOf(kind)).map((each) => each.id)).not.toContain(id);
    expect((await clients.admin.call("POST", `${path}/${kind}/${id}/restore`)).status).toBe(200);
  });

  test("Is too late after ten minutes, and then nothing of it is left", async () => {
    const id = await make(kind);
    await clients.owner.call("DELETE", `${path}/${kind}/${id}`);
    await sqlOf(
      "update private.deleted_things set deleted_at = deleted_at - interval '11 minutes' where id = $1",
      id,
    );
    const late = await clients.owner.call("POST", `${path}/${kind}/${id}/restore`);
    expect(late.status).toBe(404);
    await sqlOf("select private.sweep_old_records('{}', 1000)");
    expect(await sqlOf("select from private.deleted_things where id = $1", id)).toEqual([]);
  });
});

test("Counts for a restored budget what was spent before and since, keeps its former periods, and tells nothing twice", async () => {
  const { secret } = await harness.fixtures.key(workspace);
  const spend = (usd: number) =>
    apiClient(baseUrl(), secret).post(costMessage({ provider: "openai", estimated_cost: usd }));
  expect((await spend(60)).status).toBe(201);
  const id = await make("budgets");
  const day = "2026-01-01";
  await sqlOf("update public.budgets set counted_from = $2 where id = $1", id, day);
  await sqlOf(
    `insert into public.budget_counts (workspace_id, budget_id, environment, period_from, spent_usd, booked_usd)
     values ($1, $2, 'live', $3, 12.345678901234567891, 0)`,
    workspace,
    id,
    day,
  );
  const spendOf = () =>
    sqlOf(
      "select period_from::text, spent_usd::text from public.budget_spend where budget_id = $1 order by 1",
      id,
    );
  const before = await spendOf();
  const alertsOf = () =>
    sqlOf("select id, level from public.alerts where subject_id = $1 order by number", id);
  const told = await alertsOf();
  expect(told).toHaveLength(1);
  await clients.owner.call("DELETE", `${path}/budgets/${id}`);
  expect((await spend(5)).status).toBe(201);
  const { body } = await clients.owner.call("POST", `${path}/budgets/${id}/restore`);
  const after = await spendOf();
  expect(after).toHaveLength(before.length);
  expect(after[0]).toEqual({ period_from: day, spent_usd: "12.345678901234567891" });
  expect(Number(after[1].spent_usd)).toBe(Number(before[1].spent_usd) + 5);
  expect(body.spent).toBe(Number(after[1].spent_usd));
  expect(await alertsOf()).toEqual(told);
  // It counts on.
  expect((await spend(1)).status).toBe(201);
  expect(Number((await spendOf())[1].spent_usd)).toBe(Number(before[1].spent_usd) + 6);
});

test("Blocks again at a restored budget, and not at a deleted one", async () => {
  const other = await harness.fixtures.workspace();
  const owner = apiClient(baseUrl(), (await addUser(harness, other, "owner")).token);
  const { rows } = await harness.fixtures.sql.query("select slug from public.workspaces where id = $1", [
    other,
  ]);
  const own = `/api/v1/workspaces/${rows[0].slug}/budgets`;
  const { secret } = await harness.fixtures.key(other);
  const spend = () => apiClient(baseUrl(), secret).post(costMessage({ estimated_cost: 2 }));
  const { body } = await owner.call("POST", own, { scope_type: "global", amount: 1, blocks: true });
  expect((await spend()).status).toBe(402);
  await owner.call("DELETE", `${own}/${body.id}`);
  expect((await spend()).status).toBe(201);
  expect((await owner.call("POST", `${own}/${body.id}/restore`)).status).toBe(200);
  expect((await spend()).status).toBe(402);
});

test("Opens the link of a restored invitation again", async () => {
  const { body } = await clients.owner.call("POST", `${path}/invitations`, { role: "viewer" });
  const { id } = body.invitation as { id: string };
  const token = String(body.link).split("/").at(-1);
  await clients.owner.call("DELETE", `${path}/invitations/${id}`);
  expect((await stranger.get(`/api/v1/invitations/${token}`)).status).toBe(404);
  await clients.owner.call("POST", `${path}/invitations/${id}/restore`);
  expect((await stranger.get(`/api/v1/invitations/${token}`)).status).toBe(200);
});

test("Gives a restored channel its secrets and what it had not sent", async () => {
  const id = await make("alert-channels");
  const secrets = () => sqlOf("select * from private.channel_secrets where channel_id = $1", id);
  const before = await secrets();
  expect(before).toHaveLength(1);
  await sqlOf(
    `insert into public.deliveries (workspace_id, kind, channel_id, channel_name, channel_kind, next_attempt_at)
     select $1, 'test', $2, 'Ops', 'webhook', now() + interval '1 day'`,
    workspace,
    id,
  );
  const states = async () =>
    (await sqlOf("select state from public.deliveries where channel_id = $1", id)).map(({ state }) => state);
  await clients.owner.call("DELETE", `${path}/alert-channels/${id}`);
  expect(await states()).toEqual(["cancelled"]);
  expect(await secrets()).toEqual([]);
  await clients.owner.call("POST", `${path}/alert-channels/${id}/restore`);
  expect(await states()).toEqual(["pending"]);
  expect(await secrets()).toEqual(before);
});

test("Restores a private view to its maker alone, and a shared one to no viewer", async () => {
  const { body: own } = await clients.member.call("POST", `${path}/views`, {
    name: "Mine",
    query: "by=model",
  });
  await clients.member.call("DELETE", `${path}/views/${own.id}`);
  for (const client of [clients.owner, clients.viewer])
    expect((await client.call("POST", `${path}/views/${own.id}/restore`)).status).toBe(404);
  expect((await clients.member.call("POST", `${path}/views/${own.id}/restore`)).status).toBe(200);
});

test("Refuses to restore for an admin who was made a member meanwhile", async () => {
  const { token, id: userId } = await addUser(harness, workspace, "admin");
  const client = apiClient(baseUrl(), token);
  const id = await make("budgets");
  expect((await client.call("DELETE", `${path}/budgets/${id}`)).status).toBe(200);
  await sqlOf(
    "update public.workspace_members set role = 'member' where user_id = $1 and workspace_id = $2",
    userId,
    workspace,
  );
  expect((await client.call("POST", `${path}/budgets/${id}/restore`)).status).toBe(403);
  expect((await listOf("budgets")).map((each) => each.id)).not.toContain(id);
});

test("Deletes a workspace whose deleted things are kept", async () => {
  const other = await harness.fixtures.workspace();
  const owner = apiClient(baseUrl(), (await addUser(harness, other, "owner")).token);
  const { rows } = await harness.fixtures.sql.query("select slug from public.workspaces where id = $1", [
    other,
  ]);
  const own = `/api/v1/workspaces/${rows[0].slug}/budgets`;
  const { body } = await owner.call("POST", own, { scope_type: "global", amount: 1 });
  await owner.call("DELETE", `${own}/${body.id}`);
  await sqlOf("delete from public.workspaces where id = $1", other);
  expect(await sqlOf("select from private.deleted_things where workspace_id = $1", other)).toEqual([]);
});
