import { beforeEach, expect, test } from "vitest";
import { add, type Decimal, parseDecimal, subtract, sum, toText, zero } from "@/lib/decimal";
import { seededRandom } from "@/lib/ledger/demo/random";
import { connectService } from "@/tests/helpers/connect-service";
import {
  computeNow,
  listRows,
  noon,
  type Posting,
  priceAt,
  recordAll,
  selectPostings,
} from "@/tests/helpers/recommendations";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam, type Team } from "@/tests/helpers/team";

// Recommendations of prompt caching: that they claim no more than the recorded calls allow.

const harness = withSharedHarness();
connectService(() => harness.database);

let team: Team;
let secret: string;

beforeEach(async () => {
  team = await makeTeam(harness);
  secret = (await harness.fixtures.key(team.workspace)).secret;
});

const record = (messages: object[]) => recordAll(harness.services[0]?.baseUrl ?? "", secret, messages);

type Found = {
  id: string;
  kind: string;
  feature: string | null;
  target: string;
  method: string;
  activity_query: string;
  saved: { amount_usd: number; records: number } | null;
};

/** Computes the recommendations now. @returns those of prompt caching */
async function compute(): Promise<Found[]> {
  await computeNow(harness.fixtures.sql, team.workspace);
  const { body } = await team.users.viewer.get(`${team.path}/recommendations`);
  return (body.recommendations as Found[]).filter(({ kind }) => kind === "prompt_caching");
}

/** A call with so many input tokens, minutes after noon two days ago. */
const call = (minutes: number, input: number, more: object = {}) => ({
  type: "usage",
  provider: "anthropic",
  model: "claude-sonnet-4-5",
  feature: "answers",
  occurred_at: new Date(Date.parse(noon(2)) + minutes * 60_000).toISOString(),
  request_input_tokens: input,
  lines: [
    { unit_type: "input_tokens", quantity: input },
    { unit_type: "output_tokens", quantity: 10 },
  ],
  ...more,
});

/** Ways to tell of a call of which nothing can be said: unknown size, cached beside and within the input, given cost. */
const others = (input: number, cached: number) => [
  { request_input_tokens: undefined },
  {
    request_input_tokens: input + cached,
    lines: [
      { unit_type: "input_tokens", quantity: input },
      { unit_type: "cache_read_tokens", quantity: cached },
    ],
  },
  { lines: undefined, unit_type: "input_tokens", quantity: input, cached_quantity: cached },
  { lines: [{ unit_type: "input_tokens", quantity: input, estimated_cost: 0.01 }] },
];

/** Calls that may and may not be priced as cached: tiers, long contexts, cached parts, unknown sizes, given costs. */
function randomCalls(count: number): object[] {
  const random = seededRandom(20_261_129);
  const pick = <T>(among: readonly T[]) => among[Math.floor(random() * among.length)] as T;
  return Array.from({ length: count }, () => {
    const [provider, model, least, spread] = pick([
      ["anthropic", "claude-sonnet-4-5", 60_000, 120],
      ["anthropic", "claude-haiku-4-5", 70_000, 4],
      ["openai", "gpt-4.1", 50_000, 60],
      ["google", "gemini-2.5-pro", 80_000, 60],
    ] as const);
    const input = random() < 0.05 ? 900 : least + Math.floor(random() * pick([200, 20_000, 400_000]));
    const minutes = random() * spread - 1440 * Math.floor(random() * 2);
    const cached = 1 + Math.floor(random() * 500);
    return call(minutes, input, {
      ...{ provider, model },
      ...(random() < 0.2 && { service_tier: pick(["batch", "priority"]) }),
      ...pick([{}, {}, {}, {}, {}, {}, {}, {}, ...others(input, cached)]),
    });
  });
}

const spanMs: Record<string, number> = { "5m": 300_000, "1h": 3_600_000, automatic: 300_000 };
const shortest: Record<string, number> = {
  "claude-sonnet-4-5": 1024,
  "claude-haiku-4-5": 4096,
  "gpt-4.1": 1024,
  "gemini-2.5-pro": 2048,
};

/** A posting's cost with its first tokens written to the cache, or read from it; null where one has no price. */
function priceCached(posting: Posting, tokens: number, target: string, at: Date) {
  const rest = Number(posting.quantity) - tokens;
  const unit = target === "automatic" ? "input_tokens" : `cache_write_${target}_tokens`;
  const written = priceAt(posting, { unit, quantity: tokens }, at);
  const fresh = rest === 0 ? zero : priceAt(posting, { quantity: rest }, at);
  const read = priceAt(posting, { cached: tokens }, at);
  return written && fresh && read ? { write: add(written, fresh), read } : null;
}

test("Each amount is that of pricing each call anew, with the tokens that all can share read or written", async () => {
  await record(randomCalls(500));
  const at = new Date();
  const found = await compute();
  expect(new Set(found.map(({ target }) => target))).toEqual(new Set(["5m", "1h", "automatic"]));
  expect(found.length).toBe(4);
  for (const { id, target, method, activity_query: query } of found) {
    const { rows } = await harness.fixtures.sql.query(
      "select recorded_usd::text, repriced_usd::text, counts from public.recommendations where id = $1",
      [id],
    );
    const listed = await listRows(team, query);
    const listedSum = toText(sum(listed.map(({ amount_usd: amount }) => parseDecimal(amount))));
    expect(toText(parseDecimal(rows[0].recorded_usd))).toBe(listedSum);
    const ids = listed.map((row) => row.id);
    const postings = await selectPostings(harness.fixtures.sql, team.workspace, ids);
    const isEligible = (posting: Posting) =>
      posting.unit_type === "input_tokens" &&
      posting.details?.service_tier !== "batch" &&
      posting.details?.cached_quantity === undefined &&
      Number(posting.details?.request_input_tokens) === Number(posting.quantity) &&
      Number(posting.quantity) >= (shortest[posting.model] ?? 0) &&
      priceCached(posting, 128, target, at) !== null;
    const eligible = postings.filter(isEligible);
    const smallest = Math.min(...eligible.map(({ quantity }) => Number(quantity)));
    const tokens = Math.floor(smallest / 128) * 128;
    const written = new Set<string>();
    const repriced = postings.map((posting): Decimal => {
      const cached = isEligible(posting) ? priceCached(posting, tokens, target, at) : null;
      if (!cached) return parseDecimal(posting.amount_usd);
      const rate = toText(priceAt(posting, { quantity: 1 }, at) ?? zero);
      const span = Math.floor(posting.occurred_at.getTime() / (spanMs[target] ?? 1));
      const name = `${posting.details?.service_tier} ${rate} ${span}`;
      if (written.has(name)) return cached.read;
      written.add(name);
      return cached.write;
    });
    expect(toText(sum(repriced)), query).toBe(toText(parseDecimal(rows[0].repriced_usd)));
    expect(rows[0].counts).toEqual({ tokens, calls: eligible.length, writes: written.size });
    const count = (value: number) => value.toLocaleString("en-US");
    expect(method).toContain(
      `If the first ${count(tokens)} tokens of these ${count(eligible.length)} calls are the same`,
    );
    expect(method.includes("can mean that the prompts differ early")).toBe(target === "automatic");
  }
});

test("Recommends no caching of short prompts, of what is cached already, or of calls too far apart", async () => {
  const many = (count: number, make: (index: number) => object) =>
    Array.from({ length: count }, (_, index) => make(index));
  const free = { provider: "openai", model: "gpt-4.1" };
  const mixed = { feature: "with a short call", model: "claude-haiku-4-5" };
  await record([
    // Writes for 5 minutes are read where calls are near each other, those for an hour also where they are 10 minutes apart.
    ...many(60, (index) => call(index / 60, 20_000, { feature: "near" })),
    ...many(60, (index) => call(index * 10, 20_000, { feature: "sparse" })),
    ...many(60, (index) => call(index * -90, 20_000, { feature: "rare" })),
    ...many(60, (index) => call(index * 10, 50_000, { feature: "sparse, free writes", ...free })),
    ...many(60, (index) =>
      call(index / 60, 20_000, { feature: "sizes unknown", request_input_tokens: undefined }),
    ),
    ...many(60, (index) => call(index / 60, 30_000, mixed)),
    call(0.5, 4095, mixed),
    ...many(60, (index) => call(index / 60, 20_000, { feature: "cached" })),
    call(2, 1_000_000, {
      feature: "cached",
      lines: [{ unit_type: "cache_read_tokens", quantity: 1_000_000 }],
    }),
  ]);
  await record(many(800, (index) => call(index / 800, 1023, { feature: "short" })));
  const found = await compute();
  expect(found.map(({ feature, target }) => [feature, target]).sort()).toEqual([
    ["near", "5m"],
    ["sparse", "1h"],
    ["with a short call", "5m"],
  ]);
  expect(found.find(({ feature }) => feature === mixed.feature)?.method).toContain("of these 60 calls");
});

test("What caching saved is what the cached tokens would have cost as input, less their cost", async () => {
  await record(Array.from({ length: 60 }, (_, i) => call(i / 60, 20_000)));
  const [found] = await compute();
  const decided = await team.users.admin.call("POST", `${team.path}/recommendations/${found?.id}/decision`, {
    decision: "accept",
  });
  expect(decided.status).toBe(200);
  await harness.fixtures.sql.query(
    "update public.recommendations set decided_at = now() - interval '5 days' where id = $1",
    [found?.id],
  );
  const since = await record([
    call(10, 20_000, {
      lines: [
        { unit_type: "input_tokens", quantity: 1000 },
        { unit_type: "cache_write_5m_tokens", quantity: 19_000 },
      ],
    }),
    call(11, 2_000_000, {
      lines: [
        { unit_type: "input_tokens", quantity: 1000 },
        { unit_type: "cache_read_tokens", quantity: 1_999_000 },
      ],
    }),
  ]);
  const [accepted] = await compute();
  const postings = await selectPostings(harness.fixtures.sql, team.workspace, since);
  const saved = postings.map((posting) =>
    subtract(
      priceAt(posting, { unit: "input_tokens" }, new Date()) ?? zero,
      parseDecimal(posting.amount_usd),
    ),
  );
  expect(accepted?.saved).toMatchObject({ records: 62, amount_usd: Number(toText(sum(saved))) });
  expect(accepted?.saved?.amount_usd).toBeGreaterThan(0);
});
