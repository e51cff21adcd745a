import { describe, expect, test } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { readCapture } from "@/tests/helpers/otlp";
import { makeSource } from "@/tests/helpers/otlp-source";
import { clientIn, expense, newClient, record } from "@/tests/helpers/recording";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam } from "@/tests/helpers/team";

const harness = withSharedHarness();

/** A workspace with spend of two people and of nobody in two projects, and a key that is limited to one of them. */
async function spendOfPeople(options: Record<string, unknown> = {}) {
  const all = await newClient(harness);
  for (const [user, project, cost] of [
    ["anna", "checkout", 1],
    ["anna", "search", 2],
    ["bo", "checkout", 4],
    [undefined, "checkout", 8],
  ] as const) {
    const message = costMessage({ user, tags: { team: "growth" }, estimated_cost: cost }, { project });
    expect((await all.post(message)).status).toBe(201);
  }
  const conditions = { users: ["anna"], ...options };
  return { all, anna: await clientIn(harness, all.workspace, { conditions }) };
}

describe("A key that is limited to users", () => {
  test("Records for them alone, and nothing without a user", async () => {
    const client = await newClient(harness, { conditions: { users: ["anna", "bo"] } });
    expect((await client.post(costMessage({ user: "anna" }))).status).toBe(201);
    const line = { unit_type: "requests", quantity: 1, estimated_cost: 1 };
    const batch = { type: "batch", provider: "p", batch_id: "b" };
    const refused = [
      costMessage({ user: "cy" }).message,
      costMessage({}).message,
      { ...batch, items: [{ ...line, user: "anna" }, line] },
      {
        ...batch,
        items: [
          { ...line, user: "anna" },
          { ...line, user: "cy" },
        ],
      },
      expense(1),
      { type: "subscription", vendor: "v", amount: 1 },
      { type: "allocation", from_project: "checkout", amount: 0.001 },
    ];
    for (const message of refused) {
      const { status, body } = await record(client, message);
      expect([status, body.error]).toEqual([403, "user_not_allowed"]);
      expect(JSON.stringify(body)).not.toMatch(/anna|bo|cy/);
    }
    expect((await record(client, { ...batch, items: [{ ...line, user: "bo" }] })).status).toBe(201);
  });

  test("Is refused what an emitter tells of others, call by call", async () => {
    const source = await makeSource(harness, { conditions: { users: ["nobody else"] } });
    const response = await source.accept(readCapture("claude-code-logs"));
    const { partialSuccess } = await response.json();
    expect(partialSuccess.errorMessage).toContain("user_not_allowed");
    expect(await source.messages()).toEqual([]);
  });

  test("Reads only what was recorded for them", async () => {
    const { anna } = await spendOfPeople();
    expect((await anna.get("/api/v1/summary/month")).body).toMatchObject({
      total_usd: 3,
      by_project: { checkout: 1, search: 2 },
      message_count: 2,
    });
    const { body } = await anna.get("/api/v1/projects/checkout/spend");
    expect(body).toMatchObject({ total_usd: 1, message_count: 1, rows: [{ amount_usd: 1 }] });
    expect(body.by_model).toEqual([{ model: "gpt-4o", total_usd: 1 }]);
    expect(body.daily).toMatchObject([{ total_usd: 1 }]);
  });

  test("Reads only what was recorded for them in its projects, where it is limited to both", async () => {
    const { anna } = await spendOfPeople({ project_slugs: ["checkout"] });
    expect((await anna.get("/api/v1/summary/month")).body).toMatchObject({
      total_usd: 1,
      by_project: { checkout: 1 },
    });
    expect((await anna.get("/api/v1/projects/search/spend")).status).toBe(404);
  });

  test("Reads its people's lines of a batch that begins with another's, also of a part of a day", async () => {
    const { all, anna } = await spendOfPeople({});
    const line = (user: string, cost: number) => ({
      ...{ user, unit_type: "requests", quantity: 1, estimated_cost: cost },
    });
    const batch = { type: "batch", provider: "p", batch_id: "b", occurred_at: "2026-03-03T12:00:00Z" };
    const items = [line("bo", 4), line("anna", 16), line("anna", 32)];
    expect((await record({ ...all }, { ...batch, items })).status).toBe(201);
    for (const hours of ["T00:00:00Z", "T06:00:00Z"]) {
      const { body } = await anna.get(
        `/api/v1/projects/checkout/spend?from=2026-03-03${hours}&to=2026-03-04T00:00:00Z`,
      );
      expect(body, hours).toMatchObject({ total_usd: 48, message_count: 0, daily: [{ total_usd: 48 }] });
    }
  });

  test("Sees the budgets of its people, and how many others there are", async () => {
    const { all, anna } = await spendOfPeople();
    const setBudget = (name: string, scope: string, value: string | null) =>
      harness.fixtures.sql.query(
        "insert into public.budgets (workspace_id, name, scope_type, scope_value, amount) values ($1, $2, $3, $4, 10)",
        [all.workspace, name, scope, value],
      );
    await setBudget("Everything", "global", null);
    await setBudget("Anna", "user", "anna");
    await setBudget("Bo", "user", "bo");
    await setBudget("Growth", "tag", "team:growth");
    const { rows } = await harness.fixtures.sql.query(
      "select id from public.projects where workspace_id = $1 and slug = 'checkout'",
      [all.workspace],
    );
    await setBudget("Checkout", "project", rows[0].id);
    expect((await anna.get("/api/v1/budgets/status")).body).toMatchObject({
      budgets: [{ name: "Anna", scope_type: "user", spent: 3 }],
      hidden_count: 4,
    });
    const { body } = await all.get("/api/v1/budgets/status");
    expect(
      (body.budgets as { name: string; spent: number }[]).map(({ name, spent }) => [name, spent]),
    ).toEqual([
      ["Anna", 3],
      ["Bo", 4],
      ["Checkout", 13],
      ["Everything", 15],
      ["Growth", 15],
    ]);
    const both = await clientIn(harness, all.workspace, {
      conditions: { users: ["anna"], project_slugs: ["checkout"] },
    });
    expect((await both.get("/api/v1/budgets/status")).body).toEqual({ budgets: [], hidden_count: 5 });
  });

  test("Is made, described and changed as other conditions are", async () => {
    const { path, users } = await makeTeam(harness);
    const keys = `${path}/api-keys`;
    const { status, body } = await users.owner.call("POST", keys, {
      name: "Anna's agent",
      permissions: ["log_usage"],
      conditions: { users: ["anna@example.com"] },
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({ conditions: { users: ["anna@example.com"], features: [] } });
    expect(body.summary).toContain("for the user anna@example.com");
    const client = apiClient(harness.services[0]?.baseUrl ?? "", String(body.secret));
    expect((await client.post(costMessage({ user: "bo" }))).body.error).toBe("user_not_allowed");
    const edited = await users.owner.call("PATCH", `${keys}/${body.id}`, { conditions: { users: [] } });
    expect(edited.body).toMatchObject({ conditions: { users: [] } });
    expect((await client.post(costMessage({ user: "bo" }))).status).toBe(201);
    const twice = await users.owner.call("PATCH", `${keys}/${body.id}`, {
      conditions: { users: ["a", "a"] },
    });
    expect(twice).toMatchObject({ status: 400, body: { issues: [{ path: "conditions.users.1" }] } });
  });
});

describe("A budget", () => {
  test("Is of a person or a tag, by name, and counts live spend of theirs", async () => {
    const { path, users, workspace } = await makeTeam(harness);
    const client = await clientIn(harness, workspace);
    await client.post(costMessage({ user: "anna", tags: { team: "growth" }, estimated_cost: 9 }));
    await client.post(costMessage({ user: "bo", estimated_cost: 1 }));
    const budgets = `${path}/budgets`;
    const ofAnna = { scope_type: "user", scope_value: "anna", amount: 10 };
    expect((await users.owner.call("POST", budgets, ofAnna)).body).toMatchObject({
      name: "anna",
      spent: 9,
      alert: true,
      scope: { type: "user", value: "anna", label: "anna" },
    });
    const ofTeam = { scope_type: "tag", scope_value: "team:growth", amount: 100 };
    expect((await users.owner.call("POST", budgets, ofTeam)).body).toMatchObject({ spent: 9 });
    const wrong = await users.owner.call("POST", budgets, { ...ofTeam, scope_value: "growth" });
    expect(wrong).toMatchObject({ status: 400, body: { issues: [{ path: "scope_value" }] } });
  });
});
