import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { apiClient, costMessage, signUpUser } from "@/tests/helpers/client";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness();
const baseUrl = () => harness.services[0]?.baseUrl ?? "";

type Offer = { source: string; model: string; rate: number };
type Disputed = {
  provider: string;
  model: string;
  unit_type: string;
  last_used_on: string;
  applied: Offer;
  other: Offer;
};

let slug: string;
let workspace: string;
let owner: Awaited<ReturnType<typeof signUpUser>>;
let key: ReturnType<typeof apiClient>;

beforeAll(async () => {
  slug = `w-${randomUUID()}`;
  workspace = await harness.fixtures.workspace(slug);
  key = apiClient(baseUrl(), (await harness.fixtures.key(workspace)).secret);
  owner = await signUpUser(baseUrl());
  await harness.fixtures.sql.query(
    "insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, 'owner')",
    [workspace, owner.id],
  );
});

const prices = () => `/api/v1/workspaces/${slug}/prices`;
const disputed = async () => (await owner.get(prices())).body.disputed as Disputed[];
const record = (message: Record<string, unknown>) =>
  key.post(
    costMessage({ estimated_cost: undefined, unit_type: "input_tokens", quantity: 1_000_000, ...message }),
  );

describe("A disputed price", () => {
  const llama = { provider: "Together_AI", model: "meta-llama/Llama-3.3-70B-Instruct-Turbo" };

  test("Is listed with both catalogues' prices once its model is in use, and applied until it is settled", async () => {
    expect(await disputed()).toEqual([]);
    await record({ provider: "openai", model: "gpt-4o" });
    expect(await disputed()).toEqual([]);
    const { body } = await record(llama);
    const found = await disputed();
    expect(found.map(({ unit_type }) => unit_type).sort()).toEqual(["input_tokens", "output_tokens"]);
    const input = found.find(({ unit_type }) => unit_type === "input_tokens") ?? expect.fail();
    expect(input).toMatchObject({
      ...llama,
      last_used_on: String(body.created_at).slice(0, 10),
      applied: { source: "genai-prices 0.1.8", rate: 0.00000088 },
      other: { source: "litellm 1.109.1", rate: 0.00000104 },
    });
    expect(body).toMatchObject({ amount_usd: 0.88, cost_status: "priced" });
  });

  test("Is settled by a price of the workspace's own, which corrects what was recorded", async () => {
    const [{ provider, model, unit_type, other } = expect.fail()] = (await disputed()).filter(
      (each) => each.unit_type === "input_tokens",
    );
    const from = `${new Date().toISOString().slice(0, 8)}01T00:00:00Z`;
    const settled = { provider, model, unit_type, rate: other.rate, starts_at: from, reprice: { from } };
    expect((await owner.call("PUT", prices(), settled)).status).toBe(200);
    expect((await disputed()).map((each) => each.unit_type)).toEqual(["output_tokens"]);
    expect((await record(llama)).body).toMatchObject({ amount_usd: 1.04 });
    const total = async () => (await key.get("/api/v1/summary/month")).body.total_usd;
    await expect.poll(total, { timeout: 15_000 }).toBe(4.58); // 2.5 of GPT-4o and twice 1.04
    expect(await ledgerDifferences(harness.fixtures, workspace)).toEqual([]);
  });
});

describe("A service tier", () => {
  test("Prices usage and lines of batches, and stays with the message", async () => {
    const gpt = { provider: "openai", model: "gpt-5" };
    expect((await record({ ...gpt, service_tier: "standard" })).body.amount_usd).toBe(1.25);
    const { body } = await record({ ...gpt, service_tier: "flex" });
    expect(body).toMatchObject({ amount_usd: 0.625, cost_status: "priced" });
    const { body: stored } = await owner.get(`/api/v1/workspaces/${slug}/messages/${body.id}`);
    expect(stored).toMatchObject({
      details: { service_tier: "flex" },
      price: { tier: { service: "flex" } },
    });
    const item = { model: "gpt-5", unit_type: "output_tokens", quantity: 1_000_000 };
    const batch = await key.post(
      costMessage({
        type: "batch",
        provider: "openai",
        batch_id: "b-1",
        model: undefined,
        unit_type: undefined,
        quantity: undefined,
        estimated_cost: undefined,
        items: [{ ...item, service_tier: "batch" }, item],
      }),
    );
    expect(batch.body.amount_usd).toBe(15);
  });

  test("Keeps its price when past prices are corrected", async () => {
    const batch = { provider: "anthropic", model: "claude-sonnet-4-5", service_tier: "batch" };
    const { body } = await record(batch);
    expect(body.amount_usd).toBe(1.5);
    const from = "2026-01-01T00:00:00Z";
    const unrelated = {
      provider: "anthropic",
      unit_type: "requests",
      rate: 1,
      starts_at: from,
      reprice: { from },
    };
    await owner.call("PUT", prices(), unrelated);
    await expect
      .poll(
        async () =>
          ((await owner.get(prices())).body.repricings as { status: string }[]).every(
            ({ status }) => status === "done",
          ),
        { timeout: 15_000 },
      )
      .toBe(true);
    const { body: stored } = await owner.get(`/api/v1/workspaces/${slug}/messages/${body.id}`);
    expect(stored.amount_usd).toBe(1.5);
  });

  test("Without a price leaves usage unpriced, and an unknown one is refused by name", async () => {
    const sonnet = { provider: "anthropic", model: "claude-sonnet-4-5" };
    expect((await record({ ...sonnet, service_tier: "flex" })).body.cost_status).toBe("unpriced");
    const { status, body } = await record({ ...sonnet, service_tier: "turbo" });
    expect([status, (body.issues as { path: string }[])[0]?.path]).toEqual([400, "message.service_tier"]);
  });
});
