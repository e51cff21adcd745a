import { beforeEach, expect, test } from "vitest";
import {
  add,
  compare,
  type Decimal,
  multiply,
  parseDecimal,
  subtract,
  sum,
  toText,
  zero,
} from "@/lib/decimal";
import { seededRandom } from "@/lib/ledger/demo/random";
import { findDisputes } from "@/lib/ledger/pricing/disputes";
import { apiClient } from "@/tests/helpers/client";
import { connectService } from "@/tests/helpers/connect-service";
import { computeNow, listRows, noon, recordAll } from "@/tests/helpers/recommendations";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam, type Team, type User } from "@/tests/helpers/team";
import { toolCall } from "@/tests/helpers/tool-call";

// Disputed prices as recommendations: that the difference is that of the rows, who may settle one, and that it is settled once.

const harness = withSharedHarness();
connectService(() => harness.database);

let team: Team;
let secret: string;

beforeEach(async () => {
  team = await makeTeam(harness);
  secret = (await harness.fixtures.key(team.workspace)).secret;
});

const baseUrl = () => harness.services[0]?.baseUrl ?? "";
const higher = { provider: "together", model: "meta-llama/Llama-3.3-70B-Instruct-Turbo" };
const withCache = { provider: "deepseek", model: "deepseek-v4-flash" };
const lower = { provider: "mistral", model: "magistral-small-latest" };

type Found = {
  id: string;
  kind: string;
  title: string;
  state: string;
  model: string;
  target: string;
  saving_usd: number;
  records: number;
  prices: { unit_type: string; applied: { rate: number }; other: { rate: number } }[];
  activity_query: string;
  saved: { amount_usd: number; before_usd: number; recorded_usd: number } | null;
};
const list = async (user: User = team.users.viewer) =>
  (await user.get(`${team.path}/recommendations`)).body as { open_usd: number; recommendations: Found[] };
const listDisputed = async (user?: User) =>
  (await list(user)).recommendations.filter(({ kind }) => kind === "disputed_price");
const decide = (user: User, id = "", body: object = { decision: "accept" }) =>
  user.call("POST", `${team.path}/recommendations/${id}/decision`, body);
const compute = () => computeNow(harness.fixtures.sql, team.workspace);
const record = (messages: object[]) => recordAll(baseUrl(), secret, messages);
const usage = (of: object, more: object = {}) => ({
  ...{ type: "usage", ...of, occurred_at: noon(2), unit_type: "input_tokens", quantity: 50_000_000 },
  ...more,
});
const ownPrices = async () =>
  (
    await harness.fixtures.sql.query(
      "select provider, model, unit_type, rate::float, starts_at from public.prices where workspace_id = $1 order by unit_type",
      [team.workspace],
    )
  ).rows;
const thisMonth = () => `${new Date().toISOString().slice(0, 7)}-01T00:00:00.000Z`;

/** Usage of disputed models in several spellings, projects' features, units, tiers and sizes, some with parts from a cache. */
function randomUsage(count: number): object[] {
  const random = seededRandom(20_261_129);
  const pick = <T>(among: readonly T[]) => among[Math.floor(random() * among.length)] as T;
  return Array.from({ length: count }, () => {
    const of = pick([higher, lower, withCache, { ...higher, provider: "Together" }]);
    const quantity = (of === withCache ? 20 : 1) * (1_000_000 + Math.floor(random() * 3_000_000));
    const common = {
      ...{ type: "usage", ...of, occurred_at: noon(1 + Math.floor(random() * 29)) },
      ...(random() < 0.5 && { feature: `feature ${Math.floor(random() * 30)}` }),
      ...(random() < 0.2 && { service_tier: "batch" }),
      ...(random() < 0.1 && { estimated_cost: 0.75 }),
    };
    const unit = pick(["input_tokens", "output_tokens", "output_reasoning_tokens", "prompt_tokens"]);
    if (unit === "input_tokens" && random() < 0.5)
      return { ...common, unit_type: unit, quantity, cached_quantity: Math.floor(quantity / 3) };
    if (random() < 0.1) return { ...common, unit_type: unit, quantity: quantity + 0.5 };
    return { ...common, unit_type: unit, quantity };
  });
}

test("The difference is that of the linked rows, each taken at the other price, in both directions", async () => {
  await record(randomUsage(300));
  await compute();
  const found = await listDisputed();
  expect(found.map(({ model, saving_usd: less }) => [model, less > 0]).sort()).toEqual(
    [
      [higher.model, false],
      [lower.model, true],
      [withCache.model, false],
    ].sort(),
  );
  const counts = { swapped: 0, cached: 0, kept: 0 };
  for (const { id, activity_query: query, prices } of found) {
    const { rows } = await harness.fixtures.sql.query(
      "select provider, subject ->> 'model' as model, recorded_usd::text, repriced_usd::text, records::int from public.recommendations where id = $1",
      [id],
    );
    const [stored] = rows;
    const listed = await listRows(team, query);
    const recorded = sum(listed.map(({ amount_usd: amount }) => parseDecimal(amount)));
    expect(compare(recorded, parseDecimal(stored.recorded_usd))).toBe(0);
    expect(listed.length).toBe(stored.records);
    const disputes = findDisputes(stored.provider, stored.model);
    expect(prices.map(({ unit_type: unit }) => unit)).toEqual(disputes.map(({ unitType }) => unitType));
    const { rows: postings } = await harness.fixtures.sql.query(
      "select amount_usd::text, quantity::text, unit_type, price, details from public.messages where workspace_id = $1 and id = any ($2)",
      [team.workspace, listed.map((row) => row.id)],
    );
    const repriced = postings.map(({ amount_usd, quantity, unit_type, price, details }) => {
      const unit = unit_type === "prompt_tokens" ? "input_tokens" : unit_type;
      const cached = parseDecimal(details?.cached_quantity ?? 0);
      const recorded = parseDecimal(amount_usd);
      if (Number(quantity) !== Math.trunc(Number(quantity))) return recorded;
      const changeOf = (of: string, rate: string | undefined, count: Decimal) => {
        const dispute = disputes.find(({ unitType, applied }) => unitType === of && applied.rate === rate);
        return (
          dispute && multiply(count, subtract(parseDecimal(dispute.other.rate), parseDecimal(rate ?? 0)))
        );
      };
      const fresh = changeOf(unit, price.rate, subtract(parseDecimal(quantity), cached));
      const ofCache = changeOf("cache_read_tokens", price.cached?.rate, cached);
      counts[ofCache ? "cached" : fresh ? "swapped" : "kept"] += 1;
      return sum([recorded, fresh ?? zero, ofCache ?? zero]);
    });
    expect(toText(repriced.reduce(add, zero))).toBe(toText(parseDecimal(stored.repriced_usd)));
  }
  expect(counts.swapped).toBeGreaterThan(50);
  expect(counts.cached).toBeGreaterThan(5);
  expect(counts.kept).toBeGreaterThan(10);
});

test("It is in no sum of savings, is not shown below a dollar, and is told to a key as more or less", async () => {
  await record([usage(higher, { quantity: 6_000_000 })]);
  await compute();
  expect(await listDisputed()).toEqual([]);
  await record([usage(higher)]);
  await compute();
  const [found] = await listDisputed();
  // 56 million tokens at 0.16 more a million.
  expect(found).toMatchObject({ saving_usd: -8.96, target: "litellm", records: 2 });
  expect((await list()).open_usd).toBe(0);
  const key = await harness.fixtures.key(team.workspace, { permissions: ["read_summaries"] });
  const client = apiClient(baseUrl(), key.secret);
  const { body, headers } = toolCall("2026", "list_recommendations", {});
  const { result } = (await client.call("POST", "/api/mcp", body, headers)).body as {
    result: { content: { text: string }[]; structuredContent: object };
  };
  expect(result.structuredContent).toEqual((await client.get("/api/v1/recommendations")).body);
  expect(result.content[0]?.text).toContain(
    `- ${found?.title}, which is no saving: $8.96 more at the price of`,
  );
  const asKey = await client.call("POST", `${team.path}/recommendations/${found?.id}/decision`, {
    decision: "accept",
  });
  expect(asKey.status).toBe(401);
  expect(await ownPrices()).toEqual([]);
});

test("Only an admin settles it, once, whoever else tries at the same time", async () => {
  await record([usage(higher)]);
  await compute();
  const [found] = await listDisputed();
  for (const user of [team.users.viewer, team.users.member])
    expect((await decide(user, found?.id)).body).toMatchObject({ error: "permission_denied" });
  expect((await decide(team.users.stranger, found?.id)).status).toBe(404);
  const other = await makeTeam(harness);
  const path = `${other.path}/recommendations/${found?.id}/decision`;
  expect((await other.users.admin.call("POST", path, { decision: "accept" })).status).toBe(404);
  expect(await ownPrices()).toEqual([]);

  const tries = [team.users.admin, team.users.owner, team.users.admin, team.users.owner];
  const answers = await Promise.all(tries.map((user) => decide(user, found?.id)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  const set = { ...higher, starts_at: new Date(thisMonth()) };
  expect(await ownPrices()).toMatchObject([
    { ...set, unit_type: "input_tokens", rate: 1.04e-6 },
    { ...set, unit_type: "output_tokens", rate: 1.04e-6 },
  ]);
  const { repricings } = (await team.users.admin.get(`${team.path}/prices`)).body as { repricings: object[] };
  expect(repricings).toMatchObject([{ includes_priced: true, from: thisMonth().replace("Z", "+00:00") }]);
  const reopened = await decide(team.users.admin, found?.id, { decision: "reopen" });
  expect([reopened.status, JSON.stringify(reopened.body)]).toEqual([
    409,
    expect.stringContaining("Set another price"),
  ]);
  await compute();
  expect(await listDisputed()).toMatchObject([{ id: found?.id, state: "accepted" }]);
});

test("To accept is refused, and decides nothing, once a price was set or a catalogue says otherwise", async () => {
  await record([usage(higher), usage(lower)]);
  await compute();
  const found = await listDisputed();
  const ofModel = (model: string) => found.find((each) => each.model === model)?.id;
  const set = await team.users.owner.call("PUT", `${team.path}/prices`, {
    ...{ ...higher, provider: "TOGETHER", unit_type: "prompt_tokens", rate: 0.000002 },
    starts_at: thisMonth(),
  });
  expect(set.status).toBe(200);
  await harness.fixtures.sql.query(
    "update public.recommendations set subject = jsonb_set(subject, '{prices,0,other,rate}', '\"0.0000002\"') where id = $1",
    [ofModel(lower.model)],
  );
  for (const { id } of found) {
    const { status, body } = await decide(team.users.admin, id);
    expect([status, JSON.stringify(body)]).toEqual([
      409,
      expect.stringContaining("not the disputed prices any more"),
    ]);
  }
  expect((await listDisputed()).map(({ state }) => state)).toEqual(["open", "open"]);
  expect(await ownPrices()).toMatchObject([{ provider: "TOGETHER", rate: 0.000002 }]);
  await compute();
  // The price of output is still disputed, but nothing was recorded at it. The catalogue's real price is not the stored one, so it is a new recommendation.
  const now = await listDisputed();
  expect(now.map(({ model }) => model)).toEqual([lower.model]);
  expect(now[0]?.id).not.toBe(ofModel(lower.model));
});

test("What is declined stays declined, and what a settled price changed is measured", async () => {
  await record([usage(higher), usage(lower)]);
  await compute();
  const found = await listDisputed();
  const ofModel = (model: string) => found.find((each) => each.model === model)?.id;
  const reason = "The invoice says so.";
  expect((await decide(team.users.admin, ofModel(lower.model), { decision: "decline", reason })).status).toBe(
    200,
  );
  expect((await decide(team.users.admin, ofModel(higher.model))).status).toBe(200);
  await harness.fixtures.sql.query(
    "update public.recommendations set decided_at = now() - interval '5 days' where id = $1",
    [ofModel(higher.model)],
  );
  // Reasoning has the list price of output, because the own price is for output_tokens.
  await record([
    usage(higher, { quantity: 1_000_000, occurred_at: noon(1) }),
    usage(higher, { quantity: 500_000, occurred_at: noon(1), unit_type: "output_tokens" }),
    usage(higher, { quantity: 100_000, occurred_at: noon(1), unit_type: "output_reasoning_tokens" }),
  ]);
  await compute();
  const now = await listDisputed();
  expect(now.find(({ model }) => model === lower.model)?.state).toBe("declined");
  // The first record keeps its price until the correction was carried out.
  expect(now.find(({ model }) => model === higher.model)).toMatchObject({
    state: "accepted",
    saved: { amount_usd: -0.24 },
  });
});
