import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { costMessage as costMessageSchema } from "@/lib/contract/ledger/message";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam, type Team } from "@/tests/helpers/team";

// Models and code generators write null for fields that they do not set, and instants in every notation of ISO 8601.

const harness = withSharedHarness();
let team: Team;
let client: ReturnType<typeof apiClient>;
beforeAll(async () => {
  team = await makeTeam(harness);
  client = apiClient(harness.services[0]?.baseUrl ?? "", (await harness.fixtures.key(team.workspace)).secret);
});

/** A message of each type with as few fields as it may have. */
const bare: Record<string, Record<string, unknown>> = {
  usage: { type: "usage", provider: "openai", unit_type: "requests", quantity: 1, estimated_cost: 1 },
  expense: { type: "expense", vendor: "Figma", amount: 5 },
  subscription: { type: "subscription", vendor: "Figma", amount: 5 },
  allocation: { type: "allocation", from_project: "checkout", amount: 0.5 },
};

/** null for each field of its type that a message leaves out. */
function nullsOf(message: Record<string, unknown>): Record<string, null> {
  const schema = costMessageSchema.options.find(({ shape }) => shape.type.value === message.type);
  const absent = Object.keys(schema?.shape ?? {}).filter((name) => !(name in message));
  return Object.fromEntries(absent.map((name) => [name, null]));
}

describe("null in an optional field", () => {
  test.each(Object.entries(bare))("Of %s counts as absent", async (_, message) => {
    const nulls = nullsOf(message);
    expect(Object.keys(nulls)).toEqual(expect.arrayContaining(["occurred_at", "label", "metadata"]));
    const key = randomUUID();
    const outer = { project: "p", source: "api", idempotency_key: key };
    await client.post(costMessage({ estimated_cost: 1 }));
    const first = await client.post({ ...outer, message: { ...message, ...nulls } });
    expect([first.status, first.body.issues]).toEqual([201, undefined]);
    const second = await client.post({ ...outer, message });
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(second.body).toEqual(first.body);
    const third = await client.post({ ...outer, message: { ...nulls, ...message } });
    expect(third.body).toEqual(first.body);
  });

  test("Counts as absent in a batch's lines, a bulk call's items, and the idempotency key", async () => {
    const line = { unit_type: "requests", quantity: 1, estimated_cost: 1 };
    const batch = {
      type: "batch",
      provider: "openai",
      batch_id: "b",
      items: [line, { ...line, model: null, feature: null }],
    };
    const { status, body } = await client.call("POST", "/api/v1/messages/batch", {
      messages: [
        { project: "p", source: "api", idempotency_key: null, message: batch },
        { ...costMessage({ feature: null, model: null }), idempotency_key: null },
        { ...costMessage({ quantity: null }) },
      ],
    });
    expect(status).toBe(207);
    expect(body).toMatchObject({
      recorded: 2,
      refused: 1,
      results: [{ amount_usd: 2 }, { status: 201 }, { status: 400, issues: [{ path: "message.quantity" }] }],
    });
  });

  test("Counts as absent in keys, budgets, workspaces and projects", async () => {
    const { owner } = team.users;
    const made = await owner.call("POST", `${team.path}/api-keys`, {
      name: "Bot",
      permissions: ["log_usage"],
      environment: null,
      conditions: null,
      expires_at: null,
    });
    expect([made.status, made.body.environment]).toEqual([201, "live"]);
    const { id } = made.body as { id: string };
    const renamed = await owner.call("PATCH", `${team.path}/api-keys/${id}`, {
      name: null,
      monthly_limit: 5,
    });
    expect(renamed.body).toMatchObject({ name: "Bot", monthly_limit: 5 });
    expect(
      (await owner.call("PATCH", `${team.path}/api-keys/${id}`, { monthly_limit: null })).body,
    ).toMatchObject({
      name: "Bot",
      monthly_limit: null,
    });
    const budget = await owner.call("POST", `${team.path}/budgets`, {
      name: null,
      scope_type: "global",
      scope_value: null,
      amount: 5,
    });
    expect([budget.status, budget.body.name]).toEqual([201, "Everything"]);
    const edited = await owner.call("PATCH", `${team.path}/budgets/${budget.body.id}`, {
      name: "All",
      amount: null,
    });
    expect(edited.body).toMatchObject({ name: "All", amount: 5 });
    const workspace = await owner.call("POST", "/api/v1/workspaces", {
      name: `Null ${randomUUID().slice(0, 8)}`,
      slug: null,
      description: null,
      base_currency: null,
    });
    expect([workspace.status, workspace.body.base_currency]).toEqual([201, "USD"]);
    const described = await owner.call("PATCH", team.path, {
      name: null,
      description: "Ours",
      base_currency: null,
    });
    expect(described.body).toMatchObject({ description: "Ours", base_currency: "USD" });
    expect((await owner.call("PATCH", team.path, { description: null })).body).toMatchObject({
      description: null,
    });
  });

  test("Is refused in a required field", async () => {
    const answer = await client.post(costMessage({ provider: null, quantity: null }));
    expect(answer.status).toBe(400);
    expect((answer.body.issues as { path: string }[]).map(({ path }) => path)).toEqual([
      "message.provider",
      "message.quantity",
    ]);
  });
});

describe("An instant without seconds, or with a lower-case t or z", () => {
  const ways = ["2026-10-05T00:00Z", "2026-10-05t00:00:00z", "2026-10-05t00:00z", "2026-10-05T02:00+02:00"];

  test.each(ways)("Is accepted: %s", async (way) => {
    const project = `p-${randomUUID()}`;
    const { status } = await client.post(costMessage({ occurred_at: way, estimated_cost: 1 }, { project }));
    expect(status).toBe(201);
    const { body } = await client.get(
      `/api/v1/projects/${project}/spend?from=${encodeURIComponent(way)}&to=2026-10-05t00:01z`,
    );
    expect(body).toMatchObject({
      from: "2026-10-05T00:00:00.000+00:00",
      to: "2026-10-05T00:01:00.000+00:00",
      total_usd: 1,
      rows: [{ occurred_at: "2026-10-05T00:00:00.000+00:00" }],
    });
  });

  test("Is the same message to an idempotency key", async () => {
    const idempotency_key = randomUUID();
    const answers = [];
    for (const occurred_at of ["2026-10-05T00:00:00Z", "2026-10-05T00:00Z", "2026-10-05t00:00z"])
      answers.push(await client.post(costMessage({ occurred_at }, { idempotency_key })));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  });

  test("Works as a key's expiry and a price's start", async () => {
    const { owner } = team.users;
    const key = { name: "Short", permissions: ["log_usage"], expires_at: "2031-01-01t00:00z" };
    expect((await owner.call("POST", `${team.path}/api-keys`, key)).body.expires_at).toBe(
      "2031-01-01T00:00:00.000+00:00",
    );
    const price = {
      provider: "acme",
      model: null,
      unit_type: "requests",
      rate: 1,
      starts_at: "2026-10-05T00:00Z",
    };
    const { body } = await owner.call("PUT", `${team.path}/prices`, price);
    expect(body.price).toMatchObject({ starts_at: "2026-10-05T00:00:00.000+00:00" });
  });

  test.each(["2026-10-05", "2026-10-05T00Z", "2026-10-05T00:00", "2026-10-05 00:00Z", "2026-10-05T24:00Z"])(
    "Is refused when invalid: %s",
    async (occurred_at) => {
      const { status, body } = await client.post(costMessage({ occurred_at }));
      expect(status).toBe(400);
      expect(body.issues).toMatchObject([
        { path: "message.occurred_at", message: expect.stringContaining("ISO 8601") },
      ]);
    },
  );
});

test("Keeps every derived figure equal to the sum of its messages", async () => {
  expect(await ledgerDifferences(harness.fixtures, team.workspace)).toEqual([]);
});
