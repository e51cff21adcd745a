import { expect, test } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { clientIn, newClient } from "@/tests/helpers/recording";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { addUser } from "@/tests/helpers/team";

const harness = withSharedHarness();
const baseUrl = () => harness.services[0]?.baseUrl ?? "";
const query = (client: ReturnType<typeof apiClient>, body: unknown) =>
  client.call("POST", "/api/v1/spend/query", body);

type Group = { value: string | null; name: string | null; is_rest: boolean; cost_usd: number };
type Axis = { groups: Group[]; rest_count: number };

test("Refuses what is not a question, naming the field and what it may be", async () => {
  const client = await newClient(harness);
  const filter = (of: object) => ({ filters: [of] });
  const cases: [body: object, path: string, says: string][] = [
    [{ group_by: ["colour"] }, "group_by.0", "must be one of project, user"],
    [{ group_by: ["tag"] }, "group_by.0", "such as tag:team"],
    [{ group_by: ["tag:"] }, "group_by.0", "such as tag:team"],
    [{ group_by: ["model", "model"] }, "group_by", "two different dimensions"],
    [{ group_by: ["day", "month"] }, "group_by", "one part of the calendar"],
    [{ group_by: ["model", "user", "day"] }, "group_by", "at most two dimensions"],
    [{ measure: "profit" }, "measure", "cost"],
    [{ from: "2026-02-01", to: "2026-01-01" }, "to", "must not be before from"],
    [{ from: "2020-01-01", to: "2026-01-01" }, "from", "choose a shorter range"],
    [{ from: "2020-01-01" }, "from", "choose a shorter range"],
    [{ group_by: ["day", "user"], from: "2024-01-01", to: "2026-01-01", top: 50 }, "group_by", "smaller top"],
    [{ top: 0 }, "top", "at least 1"],
    [{ top: 51 }, "top", "at most 50"],
    [filter({ field: "model", values: [] }), "filters.0.values", "must not be empty"],
    [filter({ field: "project", values: [null] }), "filters.0.values.0", "every row has a project"],
    [filter({ field: "key", values: ["mine"] }), "filters.0.values.0", ""],
    [filter({ field: "type", values: ["usage", "gift"] }), "filters.0.values.1", ""],
    [filter({ field: "model", op: "like", values: ["gpt%"] }), "filters.0.op", "is"],
    [filter({ field: "model", values: ["a\u0000b"] }), "filters.0.values.0", "NUL"],
    [{ environment: "test" }, "environment", "is not a field here"],
  ];
  for (const [body, path, says] of cases) {
    const answer = await query(client, body);
    expect([answer.status, answer.body.error], JSON.stringify(body)).toEqual([400, "validation_failed"]);
    const issues = answer.body.issues as { path: string; message: string }[];
    expect(issues.map((issue) => issue.path)).toContain(path);
    expect(issues.find((issue) => issue.path === path)?.message).toContain(says);
  }
});

test("Refuses to count tokens of more lines than it may read, and says how to narrow the query", async () => {
  const client = await newClient(harness);
  await client.post(costMessage());
  const { rows } = await harness.fixtures.sql.query(
    "select day, (select id from public.projects where workspace_id = $1) as project from public.daily_spend where workspace_id = $1",
    [client.workspace],
  );
  await harness.fixtures.sql.query(
    `select private.add_daily_spend(array[row(
       $1::uuid, $2::date, $3::uuid, null, 'usage', 'p', 'm', null, 'api', 'live', 0, 0, 250000, 0, null, null, 0
     )::public.daily_spend])`,
    [client.workspace, rows[0].day, rows[0].project],
  );
  const refused = await query(client, { group_by: ["unit"] });
  expect([refused.status, refused.body.error]).toEqual([400, "query_too_broad"]);
  expect(refused.body.error_description).toMatch(/250000.*Choose a shorter range.*filters/);
  const narrowed = await query(client, {
    group_by: ["unit"],
    filters: [{ field: "model", values: ["gpt-4o"] }],
  });
  expect(narrowed.status).toBe(200);
  expect((await query(client, { group_by: ["model"] })).status).toBe(200);
  await harness.fixtures.sql.query("delete from public.daily_spend where workspace_id = $1 and model = 'm'", [
    client.workspace,
  ]);
  await harness.fixtures.sql.query(
    "delete from public.daily_totals where workspace_id = $1 and (value in ('p', 'm') or amount_usd = 0)",
    [client.workspace],
  );
});

test("Lists the highest by their absolute amount, so that negative amounts do not hide in the rest", async () => {
  const client = await newClient(harness);
  for (const [project, cost] of [
    ["a", 9],
    ["b", 1],
    ["c", 2],
  ] as const)
    await client.post(costMessage({ estimated_cost: cost }, { project }));
  await client.post({
    project: "b",
    source: "api",
    message: { type: "allocation", from_project: "a", amount: 8 },
  });
  const { body } = await query(client, {
    group_by: ["project"],
    top: 1,
    filters: [{ field: "type", values: ["allocation"] }],
  });
  const { groups, rest_count: restCount } = body.rows as Axis;
  expect(groups.map(({ value, is_rest, cost_usd }) => [value, is_rest, cost_usd])).toEqual([
    ["a", false, -8],
    [null, true, 8],
  ]);
  expect(restCount).toBe(1);
  expect(body.totals).toMatchObject({ cost_usd: 0 });
});

test("Shows an API key no names, people or amounts beyond what it may read", async () => {
  const all = await newClient(harness);
  const messages = [
    [costMessage({ user: "anna", tags: { team: "growth" } }, { project: "open" })],
    [costMessage({ user: "boss", model: "secret-model", tags: { team: "board" } }, { project: "hidden" })],
  ].flat();
  for (const message of messages) expect((await all.post(message)).status).toBe(201);
  const confined = await clientIn(harness, all.workspace, { conditions: { project_slugs: ["open"] } });
  const ofAnna = await clientIn(harness, all.workspace, { conditions: { users: ["anna"] } });
  const test = await clientIn(harness, all.workspace, { environment: "test" });
  const everything = ["project", "user", "key", "model", "provider", "feature", "tag:team", "unit"];
  for (const [client, seen] of [
    [confined, 0.01],
    [ofAnna, 0.01],
    [test, 0],
  ] as const) {
    for (const dimension of everything) {
      const { status, body } = await query(client, { group_by: [dimension, "day"], measure: "tokens" });
      expect(status).toBe(200);
      expect(JSON.stringify(body)).not.toMatch(/hidden|boss|secret-model|board/);
      expect(body.totals).toMatchObject({ cost_usd: seen });
    }
    // Filters do not tell either whether something exists.
    for (const value of ["hidden", "never-existed"]) {
      const found = await query(client, { filters: [{ field: "project", values: [value] }] });
      expect(found.body.totals).toMatchObject({ cost_usd: 0, message_count: 0 });
      const others = await query(client, { filters: [{ field: "project", op: "is_not", values: [value] }] });
      expect(others.body.totals).toMatchObject({ cost_usd: seen });
    }
  }
  const writer = await clientIn(harness, all.workspace, { permissions: ["log_usage"] });
  expect((await query(writer, {})).body.error).toBe("permission_denied");

  const stranger = await addUser(harness, await harness.fixtures.workspace(), "owner");
  const { rows } = await harness.fixtures.sql.query("select slug from public.workspaces where id = $1", [
    all.workspace,
  ]);
  const asked = await apiClient(baseUrl(), stranger.token).call(
    "POST",
    `/api/v1/workspaces/${rows[0].slug}/spend/query`,
    {},
  );
  expect(asked.status).toBe(404);
});

test("Counts a message of several lines once, and a message of two tags in each tag's own columns", async () => {
  const client = await newClient(harness);
  const line = (unit_type: string, quantity: number) => ({ unit_type, quantity, estimated_cost: 1 });
  const message = {
    type: "usage",
    provider: "p",
    model: "m",
    lines: [line("input_tokens", 1000), line("output_tokens", 500), line("requests", 1)],
    tags: { team: "growth", region: "eu" },
  };
  expect((await client.post({ project: "a", source: "api", message })).status).toBe(201);
  const { body } = await query(client, {
    group_by: ["unit", "tag:team"],
    measure: "cost_per_million_tokens",
  });
  expect(body.totals).toEqual({
    cost_usd: 3,
    message_count: 1,
    tokens: 1500,
    token_cost_usd: 2,
    measured: 1333.3333333333333,
  });
  expect((body.rows as Axis).groups.map(({ value }) => value)).toEqual([
    "input_tokens",
    "output_tokens",
    "requests",
  ]);
  expect((body.columns as Axis).groups).toMatchObject([{ value: "growth" }]);
});
