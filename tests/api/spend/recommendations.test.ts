import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { add, compare, parseDecimal, subtract, sum, toText, zero } from "@/lib/decimal";
import { seededRandom } from "@/lib/ledger/demo/random";
import type { ServiceTier } from "@/lib/ledger/pricing/price-table";
import { apiClient } from "@/tests/helpers/client";
import { connectService } from "@/tests/helpers/connect-service";
import {
  computeNow,
  listRows,
  noon,
  priceAt,
  recordAll,
  selectPostings,
} from "@/tests/helpers/recommendations";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam, type Team, type User } from "@/tests/helpers/team";
import { toolCall } from "@/tests/helpers/tool-call";

// What would save money: that its receipt is the sum of its rows, and who may decide.

const harness = withSharedHarness();
connectService(() => harness.database);

let team: Team;
let key: { id: string; secret: string };
let testKey: { id: string; secret: string };

beforeEach(async () => {
  team = await makeTeam(harness);
  key = await harness.fixtures.key(team.workspace);
  testKey = await harness.fixtures.key(team.workspace, { environment: "test" });
});

const baseUrl = () => harness.services[0]?.baseUrl ?? "";
type Found = {
  id: string;
  kind: string;
  title: string;
  state: string;
  saving_usd: number;
  records: number;
  feature: string | null;
  target: string;
  activity_query: string;
  saved: { amount_usd: number; records: number } | null;
};
const list = async (user: User = team.users.viewer) =>
  (await user.get(`${team.path}/recommendations`)).body as {
    computed_at: string | null;
    open_usd: number;
    can_decide: boolean;
    recommendations: Found[];
  };
const decide = (user: User, id: string, body: object = { decision: "accept" }) =>
  user.call("POST", `${team.path}/recommendations/${id}/decision`, body);

const record = (messages: object[], secret = key.secret) => recordAll(baseUrl(), secret, messages);
const compute = () => computeNow(harness.fixtures.sql, team.workspace);

const call = (more: object = {}) => ({
  type: "usage",
  provider: "openai",
  model: "gpt-4.1",
  feature: "nightly",
  occurred_at: noon(2),
  lines: [
    { unit_type: "input_tokens", quantity: 2_000_000 },
    { unit_type: "output_tokens", quantity: 100_000 },
  ],
  ...more,
});

/** Usage of many kinds: models with and without price tiers, tiers of service, cached parts, people, own prices and amounts. */
function randomUsage(count: number): object[] {
  const random = seededRandom(20_261_128);
  const pick = <T>(among: readonly T[]) => among[Math.floor(random() * among.length)] as T;
  return Array.from({ length: count }, () => {
    const [provider, model] = pick([
      ["openai", "gpt-4.1"],
      ["OpenAI", "gpt-4.1"],
      ["openai", "gpt-5"],
      ["openai", "gpt-5.4"],
      ["anthropic", "claude-opus-4-5"],
      ["google", "gemini-2.5-pro"],
    ] as const);
    const input = pick([50_000, 199_999, 200_000, 200_001, 272_000, 272_001, 1_500_000]);
    const common = {
      ...{ type: "usage", provider, model, occurred_at: noon(1 + Math.floor(random() * 29)) },
      ...(random() < 0.5 && { feature: "nightly" }),
      ...(random() < 0.2 && { session: "s-1" }),
      ...(random() < 0.2 && { user: "ada" }),
      ...(random() < 0.7 && { request_input_tokens: input }),
      ...(random() < 0.5 && { service_tier: pick(["standard", "priority", "priority", "batch"]) }),
      ...(random() < 0.1 && { included: true }),
    };
    if (random() < 0.3)
      return {
        ...common,
        unit_type: "input_tokens",
        quantity: input,
        cached_quantity: Math.floor(input / 3),
      };
    if (random() < 0.1) return { ...common, unit_type: "output_tokens", quantity: input + 0.5 };
    if (random() < 0.1)
      return { ...common, unit_type: "input_tokens", quantity: input, estimated_cost: 0.75 };
    const lines = [
      { unit_type: "input_tokens", quantity: input },
      { unit_type: "output_tokens", quantity: 1 + Math.floor(random() * 40_000) },
      { unit_type: "cache_read_tokens", quantity: 1 + Math.floor(random() * 100_000) },
    ];
    return { ...common, lines: lines.slice(0, 1 + Math.floor(random() * 3)) };
  });
}

test("Each amount is the sum of the linked rows, and of repricing them row by row", async () => {
  const usage = randomUsage(400);
  const ids = await record(usage);
  await record(usage.slice(0, 50), testKey.secret);
  // The records of a closed month count; those of it that are voided later do not, nor do the adjustments that void them.
  const lastMonth = new Date(Date.parse(`${noon(0).slice(0, 7)}-01`) - 86_400_000).toISOString().slice(0, 7);
  const closed = await team.users.owner.call("POST", `${team.path}/closed-months`, { month: lastMonth });
  expect(closed.status).toBeLessThan(300);
  const oldest = ids
    .map((id, index) => ({ id, at: (usage[index] as { occurred_at: string }).occurred_at }))
    .sort((one, other) => (one.at < other.at ? -1 : 1));
  for (const { id } of [...oldest.slice(0, 3), ...oldest.slice(-3)]) {
    const path = `${team.path}/messages/${id}/void`;
    const { status } = await team.users.admin.call("POST", path, { reason: "Twice" });
    expect(status).toBeLessThan(300);
  }
  const at = new Date();
  await compute();
  const { recommendations } = await list();
  expect(new Set(recommendations.map(({ kind }) => kind))).toEqual(
    new Set(["batch_tier", "smaller_model", "standard_tier"]),
  );
  let partlyRepriced = 0;
  for (const { id, kind, target, activity_query: query, records } of recommendations) {
    const { rows } = await harness.fixtures.sql.query(
      "select recorded_usd::text, repriced_usd::text from public.recommendations where id = $1",
      [id],
    );
    const listed = await listRows(team, query);
    const listedSum = sum(listed.map(({ amount_usd: amount }) => parseDecimal(amount)));
    expect(compare(listedSum, parseDecimal(rows[0].recorded_usd)), query).toBe(0);
    expect(listed.every(({ environment, voids }) => environment === "live" && voids === null)).toBe(true);
    const tier = new URLSearchParams(query).get("tier");
    const postings = await selectPostings(
      harness.fixtures.sql,
      team.workspace,
      listed.map((row) => row.id),
    );
    expect(
      postings.every(({ details }) => tier === null || (details?.service_tier ?? "standard") === tier),
    ).toBe(true);
    expect(new Set(listed.map((row) => row.id)).size).toBeLessThanOrEqual(records + listed.length);
    const repriced = postings.map((posting) => {
      const recorded = parseDecimal(posting.amount_usd);
      const isWhole = !posting.quantity.includes(".") || /\.0*$/.test(posting.quantity);
      const then = priceAt(
        posting,
        kind === "smaller_model" ? { model: target } : { tier: target as ServiceTier },
        at,
      );
      if (then === null || !isWhole) partlyRepriced += 1;
      return then === null || !isWhole ? recorded : then;
    });
    expect(toText(repriced.reduce(add, zero)), query).toBe(toText(parseDecimal(rows[0].repriced_usd)));
  }
  expect(partlyRepriced).toBeGreaterThan(0);
});

test("Recommends nothing that would save less than a dollar, or less than 1% of the spend", async () => {
  await record([call({ lines: [{ unit_type: "input_tokens", quantity: 900_000 }] })]);
  await compute();
  expect((await list()).recommendations.filter(({ kind }) => kind === "batch_tier")).toEqual([]);
  await record([call()]);
  await compute();
  const { recommendations, open_usd: total } = await list();
  expect(recommendations.map(({ kind }) => kind).sort()).toEqual(["batch_tier", "smaller_model"]);
  // Both are about the same usage.
  expect(total).toBe(Math.max(...recommendations.map(({ saving_usd: saving }) => saving)));
  await record([
    {
      type: "expense",
      vendor: "Rack",
      amount: 100_000,
      currency: "USD",
      category: "x",
      occurred_at: noon(2),
    },
  ]);
  await compute();
  expect((await list()).recommendations).toEqual([]);
});

test("Admins decide, once; others do not", async () => {
  await record([call()]);
  await compute();
  const [first] = (await list()).recommendations;
  const id = first?.id ?? "";
  for (const user of [team.users.viewer, team.users.member]) {
    expect((await decide(user, id)).body).toMatchObject({ error: "permission_denied" });
    expect((await user.call("POST", `${team.path}/recommendations`)).status).toBe(403);
  }
  expect((await decide(team.users.stranger, id)).status).toBe(404);
  const other = await makeTeam(harness);
  const foreign = await other.users.admin.call("POST", `${other.path}/recommendations/${id}/decision`, {
    decision: "accept",
  });
  expect(foreign.status).toBe(404);
  expect((await decide(team.users.admin, randomUUID())).status).toBe(404);
  expect((await decide(team.users.admin, id, { decision: "decline" })).body).toMatchObject({
    issues: [{ path: "reason" }],
  });
  expect((await decide(team.users.admin, id, { decision: "later", until: "2020-01-01" })).body).toMatchObject(
    {
      issues: [{ path: "until" }],
    },
  );
  expect((await list()).recommendations[0]?.state).toBe("open");

  const both = await Promise.all([
    decide(team.users.admin, id),
    decide(team.users.owner, id, { decision: "decline", reason: "No" }),
  ]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
  const decided = (await list()).recommendations.find((each) => each.id === id)?.state;
  expect(both.find(({ status }) => status === 200)?.body.state).toBe(decided);
  expect((await decide(team.users.admin, id)).body).toMatchObject({ error: "conflict" });
  const audited = async () =>
    (
      await harness.fixtures.sql.query(
        "select 1 from public.audit_log where workspace_id = $1 and action = 'recommendation.changed'",
        [team.workspace],
      )
    ).rowCount;
  expect(await audited()).toBe(1);
  expect((await decide(team.users.admin, id, { decision: "reopen" })).body).toMatchObject({
    state: "open",
    decision: null,
  });
  expect((await decide(team.users.admin, id, { decision: "reopen" })).status).toBe(409);
  const until = noon(-3).slice(0, 10);
  expect((await decide(team.users.admin, id, { decision: "later", until })).body).toMatchObject({
    state: "later",
  });
  expect((await list()).recommendations.at(-1)).toMatchObject({ id, state: "later" });
  expect((await team.users.admin.call("POST", `${team.path}/recommendations`)).status).toBe(409);
});

test("A decision stays, and what an accepted change saved is measured from the day after", async () => {
  await record([call()]);
  await compute();
  const found = (await list()).recommendations.find(({ kind }) => kind === "batch_tier");
  expect(found?.saved).toBeNull();
  expect((await decide(team.users.admin, found?.id ?? "")).status).toBe(200);
  await harness.fixtures.sql.query(
    "update public.recommendations set decided_at = now() - interval '5 days' where id = $1",
    [found?.id],
  );
  const since = [
    call({ service_tier: "batch", occurred_at: noon(1) }),
    call({ service_tier: "batch", occurred_at: noon(2) }),
  ];
  const ids = await record([...since, call({ service_tier: "batch", occurred_at: noon(6) })]);
  await compute();
  const rows = await selectPostings(harness.fixtures.sql, team.workspace, ids.slice(0, 2));
  const saved = rows.map((row) =>
    subtract(priceAt(row, { tier: "standard" }, new Date()) ?? zero, parseDecimal(row.amount_usd)),
  );
  const accepted = (await list()).recommendations.find(({ id }) => id === found?.id);
  expect(accepted).toMatchObject({
    state: "accepted",
    saved: { records: 2, amount_usd: Number(toText(sum(saved))) },
  });
  expect(accepted?.saved?.amount_usd).toBeGreaterThan(0);
});

test("A key and its tool see them if it may read all live spend", async () => {
  await record([call()]);
  await compute();
  type List = Awaited<ReturnType<typeof list>>;
  const read = async (secret: string): Promise<{ answer: List; text: string }> => {
    const client = apiClient(baseUrl(), secret);
    const { body, headers } = toolCall("2026", "list_recommendations", {});
    const { result } = (await client.call("POST", "/api/mcp", body, headers)).body as {
      result: { content: { text: string }[]; structuredContent: List };
    };
    const answer = (await client.get("/api/v1/recommendations")).body as List;
    expect(result.structuredContent).toEqual(answer);
    return { answer, text: result.content[0]?.text ?? "" };
  };
  const reading = { permissions: ["read_summaries"] };
  const whole = await read((await harness.fixtures.key(team.workspace, reading)).secret);
  expect(whole.answer.recommendations.map(({ kind }) => kind).sort()).toEqual([
    "batch_tier",
    "smaller_model",
  ]);
  for (const { title } of whole.answer.recommendations) expect(whole.text).toContain(`- ${title}: $`);
  for (const more of [{ environment: "test" as const }, { conditions: { project_slugs: ["checkout"] } }]) {
    const { secret } = await harness.fixtures.key(team.workspace, { ...reading, ...more });
    const { answer, text } = await read(secret);
    expect(answer).toMatchObject({ computed_at: null, open_usd: 0, recommendations: [] });
    expect(text).toBe("Nothing was computed yet, as far as this key may see.");
  }
});

test("Owners and admins see what unused seats cost", async () => {
  await record([call()]);
  await harness.fixtures.sql.query(
    `insert into public.provider_accounts (workspace_id, id, provider, account, since, seat_count, unused_seat_count, seat_usd, last_success_at)
     values ($1, gen_random_uuid(), 'cursor', '', current_date, 10, 3, 40.5, now())`,
    [team.workspace],
  );
  await compute();
  const seats = { kind: "unused_seats", saving_usd: 121.5, records: 3, activity_query: null };
  const ofSeats = async (user: User) =>
    (await list(user)).recommendations.filter(({ kind }) => kind === "unused_seats");
  expect(await ofSeats(team.users.admin)).toMatchObject([seats]);
  expect(await ofSeats(team.users.member)).toEqual([]);
});
