import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { type Answer, apiClient, costMessage, signUpUser } from "@/tests/helpers/client";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { actAs } from "@/tests/helpers/sql-user";

const harness = withSharedHarness();
const baseUrl = () => harness.services[0]?.baseUrl ?? "";

type User = Awaited<ReturnType<typeof signUpUser>>;

let slug: string;
let workspace: string;
let users: Record<"owner" | "admin" | "member" | "viewer" | "stranger", User>;
let key: ReturnType<typeof apiClient>;

beforeAll(async () => {
  slug = `w-${randomUUID()}`;
  workspace = await harness.fixtures.workspace(slug);
  key = apiClient(baseUrl(), (await harness.fixtures.key(workspace)).secret);
  const roles = ["owner", "admin", "member", "viewer", "stranger"] as const;
  users = Object.fromEntries(
    await Promise.all(roles.map(async (role) => [role, await signUpUser(baseUrl())])),
  ) as typeof users;
  for (const role of roles.filter((each) => each !== "stranger")) {
    await harness.fixtures.sql.query(
      "insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, $3)",
      [workspace, users[role].id, role],
    );
  }
});

const prices = () => `/api/v1/workspaces/${slug}/prices`;
const unpriced = () => `/api/v1/workspaces/${slug}/unpriced`;
const price = (rate: number, more: Record<string, unknown> = {}) => ({
  provider: "in-house",
  model: "ranker",
  unit_type: "requests",
  rate,
  starts_at: "2026-01-01T00:00:00Z",
  ...more,
});
const usage = (quantity: number, more: Record<string, unknown> = {}) =>
  key.post(
    costMessage({
      provider: "In-House",
      model: "ranker",
      unit_type: "requests",
      quantity,
      estimated_cost: undefined,
      ...more,
    }),
  );
const codeOf = ({ status, body }: Answer) => `${status} ${body.error ?? "ok"}`;

describe("Permissions", () => {
  test("Let every member read prices and admins set them, and answer strangers 404", async () => {
    for (const role of ["owner", "admin", "member", "viewer"] as const) {
      expect(codeOf(await users[role].get(prices()))).toBe("200 ok");
      expect(codeOf(await users[role].get(unpriced()))).toBe("200 ok");
    }
    for (const role of ["member", "viewer"] as const) {
      expect(codeOf(await users[role].call("PUT", prices(), price(1)))).toBe("403 permission_denied");
    }
    for (const path of [prices(), unpriced()]) {
      const hidden = await users.stranger.get(path);
      const missing = await users.stranger.get(path.replace(slug, "no-such-workspace"));
      expect({ ...hidden.body, request_id: "" }).toEqual({ ...missing.body, request_id: "" });
      expect(codeOf(hidden)).toBe("404 not_found");
    }
    expect(codeOf(await users.stranger.call("PUT", prices(), price(1)))).toBe("404 not_found");
    expect(codeOf(await key.get(prices()))).toBe("401 invalid_credentials");
    expect(codeOf(await apiClient(baseUrl(), null).get(prices()))).toBe("401 missing_credentials");
    expect((await users.owner.get(prices())).body.prices).toEqual([]);
  });

  test("Refuse a member's price by policy, even past the guard", async () => {
    const client = await harness.fixtures.sql.connect();
    try {
      await client.query("begin");
      await actAs(client, { sub: users.member.id });
      const insert = client.query(
        "insert into public.prices (workspace_id, provider, unit_type, rate, starts_at) values ($1, 'p', 'u', 1, now())",
        [workspace],
      );
      await expect(insert).rejects.toThrow(/row-level security/);
    } finally {
      await client.query("rollback");
      client.release();
    }
  });
});

test.each([
  [{ rate: -1 }, "rate"],
  [{ rate: "1" }, "rate"],
  [{ rate: undefined }, "rate"],
  [{ starts_at: "tomorrow" }, "starts_at"],
  [{ starts_at: "0000-01-01T00:00:00Z" }, "starts_at"],
  [{ starts_at: "2026-01-01T00:00:00+23:59" }, "starts_at"],
  [{ provider: "" }, "provider"],
  [{ modle: "x" }, "modle"],
  [{ reprice: { from: "2026-02-01T00:00:00Z", to: "2026-01-01T00:00:00Z" } }, "reprice.to"],
])("Refuses a price with %j, naming %s", async (fields, path) => {
  const { status, body } = await users.admin.call("PUT", prices(), price(1, fields));
  expect(status).toBe(400);
  expect((body.issues as { path: string }[]).map((issue) => issue.path)).toContain(path);
});

test("Lists unpriced usage once for all spellings of a model; setting a price corrects it, its sums and later messages, and is audited", async () => {
  await usage(10);
  await usage(5, { model: "RANKER" });
  await key.post(
    costMessage({
      type: "batch",
      provider: "in-house",
      batch_id: "b",
      model: undefined,
      unit_type: undefined,
      quantity: undefined,
      estimated_cost: undefined,
      items: [
        { model: "ranker", unit_type: "requests", quantity: 0.5 },
        { model: "gpt", unit_type: "hugs", quantity: 2 },
      ],
    }),
  );
  const listed = (await users.viewer.get(unpriced())).body.unpriced as {
    model: string;
    quantity: number;
    line_count: number;
  }[];
  expect(listed.map(({ model, quantity, line_count }) => [model, quantity, line_count]).sort()).toEqual([
    ["RANKER", 15.5, 3],
    ["gpt", 2, 1],
  ]);
  const { status, body } = await users.admin.call("PUT", prices(), price(0.25));
  expect(status).toBe(200);
  expect(body).toMatchObject({
    price: { provider: "in-house", model: "ranker", unit_type: "requests", rate: 0.25 },
    repricings: [{ provider: "in-house", includes_priced: false, status: "pending", to: null }],
  });
  expect((await usage(4)).body).toMatchObject({ amount_usd: 1, cost_status: "priced" });
  const done = async () =>
    ((await users.viewer.get(prices())).body.repricings as { status: string; changed_count: number }[])[0];
  await expect.poll(async () => (await done())?.status, { timeout: 15_000 }).toBe("done");
  expect(await done()).toMatchObject({ changed_count: 3, change_usd: 3.875 });
  expect((await key.get("/api/v1/summary/month")).body).toMatchObject({
    total_usd: 4.875,
    unpriced_count: 1,
  });
  const { rows } = await harness.fixtures.sql.query(
    "select action, actor_id, actor_email from public.audit_log where workspace_id = $1 and action ~ '^(price|messages)' order by at",
    [workspace],
  );
  const admin = { actor_id: users.admin.id, actor_email: users.admin.email };
  expect(rows).toEqual([
    { action: "price.created", ...admin },
    { action: "messages.repriced", ...admin },
  ]);
  expect(await ledgerDifferences(harness.fixtures, workspace)).toEqual([]);
});

test("Replaces a price with the same start, and corrects a past range on request", async () => {
  const answer = await users.owner.call(
    "PUT",
    prices(),
    price(0.5, { reprice: { from: "2026-01-01T00:00:00Z" } }),
  );
  expect(answer.body.repricings).toHaveLength(2);
  expect((await users.owner.get(prices())).body.prices).toHaveLength(1);
  await expect
    .poll(
      async () =>
        ((await users.owner.get(prices())).body.repricings as { status: string }[]).every(
          ({ status }) => status === "done",
        ),
      { timeout: 15_000 },
    )
    .toBe(true);
  expect((await key.get("/api/v1/summary/month")).body.total_usd).toBe(9.75);
  expect(await ledgerDifferences(harness.fixtures, workspace)).toEqual([]);
});
