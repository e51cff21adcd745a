import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { type Answer, apiClient, costMessage } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam, type Team } from "@/tests/helpers/team";

const harness = withSharedHarness();
const baseUrl = () => harness.services[0]?.baseUrl ?? "";

let team: Team;
let liveKey: { id: string; secret: string };
let projectId: string;

type Budget = Record<string, unknown> & { id: string };
const budgets = () => `${team.path}/budgets`;
const create = (body: Record<string, unknown>, who: keyof Team["users"] = "admin") =>
  team.users[who].call("POST", budgets(), body);
const codeOf = ({ status, body }: Answer) => `${status} ${body.error ?? "ok"}`;

beforeAll(async () => {
  team = await makeTeam(harness);
  liveKey = await harness.fixtures.key(team.workspace);
  projectId = await harness.fixtures.project(team.workspace, "checkout");
  const elsewhere = await harness.fixtures.workspace();
  await harness.fixtures.project(elsewhere, "foreign");
  const testKey = await harness.fixtures.key(team.workspace, { environment: "test" });
  const live = apiClient(baseUrl(), liveKey.secret);
  const other = apiClient(baseUrl(), (await harness.fixtures.key(team.workspace)).secret);
  const posts: [typeof live, Record<string, unknown>, Record<string, unknown>][] = [
    [live, { estimated_cost: 0.1, feature: "chat" }, {}],
    [live, { estimated_cost: 0.2, provider: "OpenAI" }, {}],
    [live, { estimated_cost: 4, provider: "anthropic", feature: "chat" }, { project: "search" }],
    [other, { estimated_cost: 50 }, { project: "search" }],
    [apiClient(baseUrl(), testKey.secret), { estimated_cost: 1000 }, {}],
  ];
  for (const [client, message, outer] of posts) {
    expect((await client.post(costMessage(message, outer))).status).toBe(201);
  }
});

/** This month's live spend, computed from the messages. */
async function sumOf(condition: string): Promise<number> {
  const { rows } = await harness.fixtures.sql.query(
    `select trim_scale(coalesce(sum(m.amount_usd), 0))::text as sum
     from public.messages as m join public.projects as p on p.workspace_id = m.workspace_id and p.id = m.project_id
     where m.workspace_id = $1 and m.environment = 'live' and ${condition}`,
    [team.workspace],
  );
  return Number(rows[0].sum);
}

describe("Counts the live spend of a budget's scope, exactly the sum of its rows", () => {
  test.each<[string, () => string | null, string, unknown]>([
    ["global", () => null, "true", { type: "global", value: null, label: "Everything" }],
    [
      "project",
      () => "checkout",
      "p.slug = 'checkout'",
      { type: "project", value: "checkout", label: "checkout" },
    ],
    ["feature", () => "chat", "m.feature = 'chat'", { type: "feature", value: "chat", label: "chat" }],
    [
      "provider",
      () => "openai",
      "lower(m.provider) = 'openai'",
      { type: "provider", value: "openai", label: "openai" },
    ],
    [
      "key",
      () => liveKey.id,
      "m.api_key_id = (select id from public.api_keys where name = 'The first')",
      { type: "key", label: "The first" },
    ],
  ])("%s", async (scope_type, value, condition, scope) => {
    await harness.fixtures.sql.query("update public.api_keys set name = 'The first' where id = $1", [
      liveKey.id,
    ]);
    const spent = await sumOf(condition);
    expect(spent).toBeGreaterThan(0);
    const scope_value = value();
    const { status, body } = await create({ scope_type, scope_value, amount: 100 });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      name: (scope as { label: string }).label,
      scope_type,
      scope,
      amount: 100,
      spent,
      percent_used: Number((spent / 100).toFixed(9)),
      alert: false,
    });
    expect(body.remaining).toBe(Number((100 - spent).toFixed(6)));
    expect((await team.users.viewer.get(`${budgets()}/${body.id}`)).body).toMatchObject(body);
    const { body: answer } = await apiClient(baseUrl(), liveKey.secret).get("/api/v1/budgets/status");
    const row = (answer.budgets as (Budget & { warns: unknown })[]).find(({ id }) => id === body.id);
    expect(row, "the budget as a key reads it").toBeDefined();
    // A key may not read members and channels: it learns how many are warned.
    const { warns, ...shared } = row ?? ({} as { warns?: unknown });
    expect(warns).toEqual({ people: 0, channels: 0 });
    expect(body).toMatchObject(shared);
  });
});

test("Alerts from 80% on, to the last digit, and allows overspending", async () => {
  const spent = await sumOf("p.slug = 'checkout'");
  expect(spent).toBe(0.3);
  const of = async (amount: number) =>
    (await create({ scope_type: "project", scope_value: "checkout", amount })).body;
  expect(await of(0.375)).toMatchObject({ alert: true, percent_used: 0.8 });
  expect(await of(0.375000001)).toMatchObject({ alert: false });
  expect(await of(0.1)).toMatchObject({ alert: true, remaining: -0.2, percent_used: 3, runs_out_on: null });
});

test("Forecasts the usage of comparable days, the same as metrics, and never an expense", async () => {
  const dayMs = 86_400_000;
  const today = new Date().toISOString().slice(0, 10);
  const own = await makeTeam(harness);
  const key = apiClient(baseUrl(), (await harness.fixtures.key(own.workspace)).secret);
  const record = (message: Record<string, unknown>, daysAgo: number) =>
    key.post(
      costMessage({ ...message, occurred_at: new Date(Date.parse(today) - daysAgo * dayMs).toISOString() }),
    );
  for (let daysAgo = 1; daysAgo <= 21; daysAgo += 1) await record({ estimated_cost: 2 }, daysAgo);
  const read = async (path: string) => (await own.users.viewer.get(`${own.path}${path}`)).body;
  const budgetOf = async (scope: Record<string, unknown>, amount: number) =>
    (await own.users.owner.call("POST", `${own.path}/budgets`, { ...scope, amount })).body;
  const [year = 0, month = 0, day = 0] = today.split("-").map(Number);
  const daysLeft = new Date(Date.UTC(year, month, 0)).getUTCDate() - day + 1;
  const recorded = 2 * Math.min(day - 1, 21);
  const whole = recorded + 2 * daysLeft;
  const first = await budgetOf({ scope_type: "global" }, whole - 0.01);
  expect(first).toMatchObject({
    forecast: whole,
    runs_out_on: new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10),
    forecast_details: { low_usd: whole, high_usd: whole, days_left: daysLeft, days_compared: 21 },
  });
  // An expense and a whole day of usage more are counted as they are, and change nothing of what is to come.
  await key.post({
    project: "checkout",
    source: "api",
    message: { type: "expense", vendor: "Desk", amount: 500 },
  });
  await record({ estimated_cost: 1.5 }, 0);
  const metrics = await read("/metrics");
  expect(metrics).toMatchObject({
    forecast_usd: whole + 500,
    forecast: { added_usd: whole - recorded - 1.5 },
  });
  for (const path of [
    "/metrics?compare=none",
    "/metrics?project=checkout",
    "/metrics?environment=live&group_by=type",
  ])
    expect((await read(path)).forecast_usd, path).toBe(whole + 500);
  expect(await read(`/budgets/${first.id}`)).toMatchObject({
    forecast: metrics.forecast_usd,
    forecast_details: metrics.forecast,
    runs_out_on: null,
  });
  for (const scope of [
    { scope_type: "project", scope_value: "checkout" },
    { scope_type: "provider", scope_value: "OpenAI" },
  ]) {
    const filter = `${scope.scope_type}=${scope.scope_value.toLowerCase()}`;
    expect((await budgetOf(scope, 1000)).forecast, filter).toBe(
      (await read(`/metrics?${filter}`)).forecast_usd,
    );
  }
  expect(
    await budgetOf({ scope_type: "feature", scope_value: "nobody's", allow_unknown_scope: true }, 5),
  ).toMatchObject({
    spent: 0,
    forecast: null,
    forecast_details: null,
  });
});

describe("An invalid field", () => {
  test.each<[Record<string, unknown>, string, RegExp]>([
    [{ amount: 0 }, "amount", /greater than 0/],
    [{ amount: -5 }, "amount", /greater than 0/],
    [{ amount: "5" }, "amount", /number/],
    [{ amount: undefined }, "amount", /required/],
    [{ amount: 1e15 }, "amount", /1e15/],
    [{ name: " " }, "name", /blank/],
    [{ name: "x".repeat(121) }, "name", /120/],
    [{ scope_type: "team" }, "scope_type", /must be one of: global/],
    [{ scope_type: undefined }, "scope_type", /must be one of|required/],
    [{ scope_value: "checkout" }, "scope_value", /must be null/],
    [{ scope_type: "project" }, "scope_value", /required/],
    [{ scope_type: "project", scope_value: "nowhere" }, "scope_value", /must be a project of this workspace/],
    [{ scope_type: "project", scope_value: "foreign" }, "scope_value", /must be a project of this workspace/],
    [{ scope_type: "key", scope_value: randomUUID() }, "scope_value", /must be a key of this workspace/],
    [{ scope_type: "key", scope_value: "checkout" }, "scope_value", /must be a key of this workspace/],
    [{ scope_type: "feature", scope_value: "" }, "scope_value", /empty/],
    [{ spent: 5 }, "spent", /not a field/],
  ])("%j is refused, naming %s", async (fields, path, message) => {
    const { status, body } = await create({ scope_type: "global", amount: 5, ...fields });
    expect(status).toBe(400);
    expect(body.issues).toContainEqual({ path, message: expect.stringMatching(message) });
  });

  test("Names a project by its slug, not by its stored id", async () => {
    const { status } = await create({ scope_type: "project", scope_value: projectId, amount: 5 });
    expect(status).toBe(400);
  });

  test("Edits name and amount, and no other scope", async () => {
    const { id } = (await create({ scope_type: "global", amount: 5 })).body as Budget;
    const edit = (body: unknown) => team.users.admin.call("PATCH", `${budgets()}/${id}`, body);
    expect((await edit({ amount: 0 })).body.issues).toMatchObject([{ path: "amount" }]);
    expect((await edit({ scope_value: "checkout" })).body.issues).toMatchObject([{ path: "scope_value" }]);
    expect((await edit({ name: "All of it" })).body).toMatchObject({ name: "All of it", amount: 5 });
    expect((await edit({ amount: 0.000000000000000001 })).body).toMatchObject({
      name: "All of it",
      amount: 1e-18,
    });
    expect((await edit({})).body).toMatchObject({ name: "All of it" });
  });
});

describe("Permissions", () => {
  test("Let every member read, and admins and owners write", async () => {
    const { id } = (await create({ scope_type: "global", amount: 5 })).body as Budget;
    const one = `${budgets()}/${id}`;
    for (const who of ["owner", "admin", "member", "viewer", "stranger"] as const) {
      const user = team.users[who];
      const isAdmin = who === "owner" || who === "admin";
      const read = who === "stranger" ? "404 not_found" : "200 ok";
      const write = who === "stranger" ? "404 not_found" : isAdmin ? "200 ok" : "403 permission_denied";
      const list = await user.get(budgets());
      expect([who, codeOf(list), codeOf(await user.get(one))]).toEqual([who, read, read]);
      if (read === "200 ok") expect(list.body.can_edit).toBe(isAdmin);
      const made = codeOf(await create({ scope_type: "global", amount: 1 }, who));
      expect([who, made]).toEqual([who, isAdmin ? "201 ok" : write]);
      expect([who, codeOf(await user.call("PATCH", one, { amount: 6 }))]).toEqual([who, write]);
      if (!isAdmin) expect([who, codeOf(await user.call("DELETE", one))]).toEqual([who, write]);
    }
    const last = await team.users.owner.call("DELETE", one);
    expect(last.body).toMatchObject({ id, amount: 6 });
    expect(codeOf(await team.users.owner.call("DELETE", one))).toBe("404 not_found");
  });

  test("Answers a budget of another workspace like one that does not exist", async () => {
    const elsewhere = await harness.fixtures.workspace();
    const { rows } = await harness.fixtures.sql.query(
      "insert into public.budgets (workspace_id, name, scope_type, amount) values ($1, 'Theirs', 'global', 5) returning id",
      [elsewhere],
    );
    const answers = new Set<string>();
    for (const id of [rows[0].id, randomUUID()]) {
      for (const [method, body] of [["GET"], ["PATCH", { amount: 1 }], ["DELETE"]] as const) {
        const answer = await team.users.owner.call(method, `${budgets()}/${id}`, body);
        answers.add(JSON.stringify({ status: answer.status, ...answer.body, request_id: "" }));
      }
    }
    expect([...answers]).toEqual([expect.stringContaining("not_found")]);
  });
});

test("Allows several budgets of one scope and audits every change", async () => {
  const soft = (await create({ name: "Soft", scope_type: "project", scope_value: "search", amount: 5 }))
    .body as Budget;
  const hard = await create({ name: "Hard", scope_type: "project", scope_value: "search", amount: 9 });
  expect(hard.status).toBe(201);
  await team.users.owner.call("PATCH", `${budgets()}/${soft.id}`, { amount: 6 });
  await team.users.owner.call("DELETE", `${budgets()}/${soft.id}`);
  const { rows } = await harness.fixtures.sql.query(
    "select action, actor_id, before ->> 'amount' as before, after ->> 'amount' as after from public.audit_log where subject = 'budget ' || $1 order by at",
    [soft.id],
  );
  const { admin, owner } = team.users;
  expect(rows).toEqual([
    { action: "budget.created", actor_id: admin.id, before: null, after: "5" },
    { action: "budget.changed", actor_id: owner.id, before: "5", after: "6" },
    { action: "budget.deleted", actor_id: owner.id, before: "6", after: null },
  ]);
});

test("Numbers the names of budgets that were not named, so that no two are equal", async () => {
  const other = await makeTeam(harness);
  const name = async (given?: string) =>
    (
      await other.users.admin.call("POST", `${other.path}/budgets`, {
        scope_type: "global",
        amount: 5,
        ...(given !== undefined && { name: given }),
      })
    ).body.name;
  expect([await name(), await name(), await name("Everything 3"), await name()]).toEqual([
    "Everything",
    "Everything 2",
    "Everything 3",
    "Everything 4",
  ]);
  // A name that somebody chose stays as it is.
  expect(await name("Everything")).toBe("Everything");
});
