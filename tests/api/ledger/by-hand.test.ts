import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { addUser } from "@/tests/helpers/team";

const harness = withSharedHarness();
const baseUrl = () => harness.services[0]?.baseUrl ?? "";

let slug: string;
let workspace: string;
const tokens: Record<string, string> = {};

beforeAll(async () => {
  slug = `w-${randomUUID()}`;
  workspace = await harness.fixtures.workspace(slug);
  for (const role of ["viewer", "member", "admin"] as const) {
    tokens[role] = (await addUser(harness, workspace, role)).token;
  }
});

const as = (role: string) => apiClient(baseUrl(), tokens[role] ?? null);
const record = (role: string, messages: unknown[], query = "") =>
  as(role).call("POST", `/api/v1/workspaces/${slug}/messages/batch${query}`, { messages });
const manual = (message: Record<string, unknown> = {}, outer: Record<string, unknown> = {}) =>
  costMessage(message, { source: "manual", ...outer });
const activity = async (query = "") =>
  (await as("viewer").get(`/api/v1/workspaces/${slug}/activity?${query}`)).body.activity as Record<
    string,
    unknown
  >[];

test("Attributes, prices and counts what a member records like any message", async () => {
  const { status, body } = await record("member", [
    manual({ estimated_cost: 0.25 }),
    costMessage({}, { source: "api" }),
    manual({ quantity: -1 }),
    { project: "office", source: "import", message: { type: "expense", vendor: "Figma", amount: 45 } },
  ]);
  expect(status).toBe(207);
  expect([body.recorded, body.refused]).toEqual([2, 2]);
  expect((body.results as { error?: string }[]).map(({ error }) => error)).toEqual([
    undefined,
    "source_not_allowed",
    "validation_failed",
    undefined,
  ]);
  const rows = await activity();
  expect(rows.map(({ source }) => source).sort()).toEqual(["import", "manual"]);
  const [row] = rows;
  expect(row?.user).toMatchObject({ name: expect.stringContaining("@example.com") });
  expect(row?.key).toMatchObject({ name: (row?.user as { name?: string } | undefined)?.name });
  expect(await ledgerDifferences(harness.fixtures, workspace)).toEqual([]);
});

test("Lets a member move cost by percent, also as a dry run", async () => {
  const move = (project: string) => ({
    project,
    source: "manual",
    message: { type: "allocation", from_project: "by-percent", percent: 50 },
  });
  await record("member", [manual({ estimated_cost: 4 }, { project: "by-percent" })]);
  for (const query of ["?dry_run=true", ""]) {
    const { body } = await record("member", [move("moved-to")], query);
    expect((body.results as unknown[])[0]).toMatchObject({ status: 201, amount_usd: 2 });
  }
});

test("Records an idempotency key once, a dry run never, and keeps test data apart", async () => {
  const once = manual({ estimated_cost: 1 }, { idempotency_key: "row-1" });
  const before = (await activity()).length;
  expect((await record("admin", [once], "?dry_run=true")).body).toMatchObject({ recorded: 1 });
  expect(await activity()).toHaveLength(before);
  const [first, again] = [await record("admin", [once]), await record("admin", [once])];
  expect((again.body.results as unknown[])[0]).toEqual({
    ...(first.body.results as object[])[0],
    replayed: true,
  });
  expect(await activity()).toHaveLength(before + 1);
  await record("admin", [manual()], "?environment=test");
  expect(await activity("environment=live")).toHaveLength(before + 1);
  expect(await activity("environment=test")).toHaveLength(1);
});

test("Refuses viewers, by guard and by policy, and makes one key for many first calls", async () => {
  expect((await record("viewer", [manual()])).status).toBe(403);
  const claims = JSON.stringify({
    sub: (await addUser(harness, workspace, "viewer")).id,
    role: "authenticated",
  });
  const client = await harness.fixtures.sql.connect();
  try {
    await client.query("begin");
    await client.query("select set_config('request.jwt.claims', $1, true)", [claims]);
    const { rows } = await client.query("select private.member_key($1, 'live') as id", [workspace]);
    expect(rows[0].id).toBeNull();
  } finally {
    await client.query("rollback");
    client.release();
  }
  const { id, token } = await addUser(harness, workspace, "member");
  const newcomer = apiClient(baseUrl(), token);
  const answers = await Promise.all(
    Array.from({ length: 6 }, () =>
      newcomer.call("POST", `/api/v1/workspaces/${slug}/messages/batch`, { messages: [manual()] }),
    ),
  );
  expect(answers.map(({ body }) => body.recorded)).toEqual(Array(6).fill(1));
  const { rows } = await harness.fixtures.sql.query(
    "select count(*)::int as keys from public.api_keys where created_by = $1",
    [id],
  );
  expect(rows[0].keys).toBe(1);
});
