import fc from "fast-check";
import { monthsLater } from "./costs";
import { type KeyName, keyOptions, type Line, type Message, type Post, type Step } from "./requests";

const dayMs = 86_400_000;
const iso = (ms: number) => new Date(ms).toISOString();

/** Times at which a day, a month, a year, a price or a leap day begins or ends, some written with an offset. */
const edges = (now: number): string[] => {
  const today = Math.floor(now / dayMs) * dayMs;
  const month = Date.parse(`${iso(now).slice(0, 7)}-01T00:00:00Z`);
  return [
    "2023-12-31T23:59:59.999Z",
    "2024-01-01T00:00:00Z",
    "2024-01-01T13:59:59.999+14:00",
    "2024-02-28T23:59:59.999Z",
    "2024-02-29T00:00:00Z",
    "2024-02-29T23:59:59.999Z",
    "2024-03-01T00:00:00.000Z",
    "2024-03-01T00:30:00+01:00",
    "2025-12-31T23:59:59.999Z",
    "2026-01-01T00:00:00Z",
    "2025-12-31T12:00:00-12:00",
    iso(month - 1),
    iso(month),
    iso(today - 1),
    iso(today),
  ];
};

/** A time in the past, at or near a boundary. */
export function instant(now: number): fc.Arbitrary<string> {
  const near = (from: string, days: number) =>
    fc.integer({ min: 0, max: days * dayMs - 1 }).map((ms) => iso(Date.parse(from) + ms));
  const thisMonth = Date.parse(`${iso(now).slice(0, 7)}-01T00:00:00Z`);
  return fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...edges(now)) },
    near("2024-02-27T00:00:00Z", 4),
    near("2025-12-30T00:00:00Z", 4),
    { weight: 2, arbitrary: fc.integer({ min: thisMonth, max: now - 1 }).map(iso) },
  );
}

/** Decimal text with a number of digits before and after the point; more than zero, less than 1e15. */
function decimal(maxDigits: number, maxDecimals: number): fc.Arbitrary<string> {
  const minDecimals = Math.max(0, maxDigits - 15);
  return fc
    .tuple(
      fc.bigInt({ min: 1n, max: 10n ** BigInt(maxDigits) - 1n }),
      fc.integer({ min: minDecimals, max: maxDecimals }),
    )
    .map(([digits, decimals]) => {
      if (decimals === 0) return digits.toString();
      const text = digits.toString().padStart(decimals + 1, "0");
      return `${text.slice(0, -decimals)}.${text.slice(-decimals)}`;
    });
}

/** Amounts that add up to limits, amounts that no float represents, and others. */
const usd = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("0.1", "0.2", "0.3", "1", "5") },
  fc.constantFrom("90071992547409.93", "1e-18", "0.000000000000000001", "123456789012345.678901234567890123"),
  decimal(4, 2),
  decimal(12, 12),
  decimal(20, 18),
);

/** Costs as floats compute them, with more decimals than the ledger stores; halves round to even. */
const floatNoise = fc.oneof(
  fc
    .tuple(fc.integer({ min: 1, max: 100_000 }), fc.constantFrom(1.5e-7, 2.5e-6, 0.1))
    .map(([n, rate]) => String(n * rate)),
  fc.constantFrom("0.0000000000000000005", "0.0000000000000000015", "2.5e-18"),
);

const quantity = fc.oneof(
  fc.constantFrom("1", "1000", "1e-12", "0.5"),
  fc.integer({ min: 1, max: 2_000_000 }).map(String),
  decimal(9, 6),
);

const line: fc.Arbitrary<Line> = fc
  .record(
    {
      model: fc.constantFrom("fast", "FAST", "slow"),
      unit_type: fc.constantFrom("input_tokens", "prompt_tokens", "output_tokens", "stamps", "hugs"),
      quantity,
      cachedPart: fc.constantFrom("none", "some", "all"),
      estimated_cost: fc.oneof(usd, floatNoise, fc.constant("0")),
      feature: fc.constantFrom("chat", "search"),
      user: fc.constantFrom("anna@example.com", "bo", "ü".repeat(255)),
      session: fc.constantFrom("s1", "s2"),
    },
    { requiredKeys: ["unit_type", "quantity", "cachedPart"] },
  )
  .map(({ cachedPart, ...rest }) => {
    const isInput = ["input_tokens", "prompt_tokens"].includes(rest.unit_type);
    if (cachedPart === "none" || !isInput || !/^\d+$/.test(rest.quantity)) return rest;
    const all = BigInt(rest.quantity);
    return { ...rest, cached_quantity: String(cachedPart === "all" || all < 3n ? all : all / 3n) };
  });

const charge = fc.oneof(
  { weight: 2, arbitrary: usd.map((amount) => ({ amount })) },
  usd.map((amount) => ({ amount, currency: "USD" })),
  fc.integer({ min: 1, max: 90_000 }).map((yen) => ({ amount: String(yen), currency: "JPY" })),
  decimal(7, 3).map((amount) => ({ amount, currency: "KWD" })),
  decimal(6, 2).map((amount) => ({ amount, currency: "EUR" })),
);

/** The largest tags of all are longer than a row of an index can be. */
const tags = fc.constantFrom<Record<string, string>[]>(
  {},
  { team: "growth" },
  { cost_center: "4711", team: "growth" },
  { team: "search: relevance" },
  Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`t${index}`, "ü€".repeat(64)])),
);

const project = fc.constantFrom("alpha", "beta", "gamma", "delta");
const provider = fc.constantFrom("acme", "Acme", "nobody");

function message(now: number): fc.Arbitrary<Message> {
  const when = fc
    .tuple(
      fc.option(
        instant(now).map((occurred_at) => ({ occurred_at })),
        { nil: {}, freq: 3 },
      ),
      fc.option(
        tags.map((named) => ({ tags: named })),
        { nil: {} },
      ),
    )
    .map(([at, tagged]) => ({ ...at, ...tagged }));
  const coverage = fc.oneof(
    { weight: 3, arbitrary: fc.constant({}) },
    fc.constantFrom({ included: true }, { included: false }),
  );
  const vendor = fc.constantFrom("Figma", "acme");
  const startsOn = fc.oneof(
    instant(now).map((at) => iso(Date.parse(at)).slice(0, 10)),
    // A recurring one may begin on the first of these days, not on the second.
    fc.constantFrom(...[0, 1].map((days) => iso(monthsLater(now, -24) - days * dayMs).slice(0, 10))),
  );
  const recurrence = fc.oneof(
    { weight: 2, arbitrary: fc.constant({ recurring: true }) },
    startsOn.map((ends_on) => ({ recurring: true, ends_on })),
  );
  const kinds: fc.Arbitrary<Message>[] = [
    fc
      .tuple(provider, line, when, coverage)
      .map(([who, what, at, covered]) => ({ type: "usage", provider: who, ...what, ...at, ...covered })),
    fc
      .tuple(provider, fc.array(line, { minLength: 1, maxLength: 5 }), when)
      .map(([who, items, at]) => ({ type: "batch", provider: who, batch_id: "b", items, ...at })),
    fc
      .tuple(vendor, charge, when)
      .map(([who, what, at]) => ({ type: "expense", vendor: who, ...what, ...at })),
    fc
      .tuple(
        vendor,
        charge,
        when,
        fc.constantFrom({}, { interval: "month" as const }, { interval: "year" as const }),
        fc.option(
          startsOn.map((starts_on) => ({ starts_on })),
          { nil: {} },
        ),
        fc.oneof(fc.constant({}), recurrence),
      )
      .map(
        ([who, what, at, interval, start, again]): Message => ({
          type: "subscription",
          vendor: who,
          ...what,
          ...at,
          ...interval,
          ...start,
          ...again,
        }),
      ),
    fc
      .tuple(
        project,
        fc.oneof(
          usd.map((amount) => ({ amount })),
          fc.oneof(fc.constantFrom("100", "50", "33.3"), decimal(12, 12)).map((text) => ({
            percent: Number(text) > 100 ? "7.5" : text,
          })),
        ),
        when,
      )
      .map(([from_project, what, at]) => ({ type: "allocation", from_project, ...what, ...at })),
  ];
  return fc.oneof({ weight: 3, arbitrary: kinds[0] as fc.Arbitrary<Message> }, ...kinds.slice(1));
}

/** Flaws that make a message invalid, by type of message; the last ones fit every type. */
const flaws: Record<Message["type"] | "any", Record<string, string>[]> = {
  usage: [{ quantity: "0" }, { quantity: "-1" }, { quantity: "1e308" }, { estimated_cost: "-0.01" }],
  batch: [{ provider: "" }],
  expense: [
    { amount: "0" },
    { amount: "0.5", currency: "JPY" },
    { amount: "0.0001", currency: "KWD" },
    { currency: "ZZZ" },
    { currency: "XAU" },
    { amount: "1e-19" },
  ],
  subscription: [{ amount: "1000000000000000" }, { starts_on: "2025-02-29" }, { ends_on: "1999-12-31" }],
  allocation: [{ percent: "100.000000000000000001" }, { amount: "1", percent: "1" }],
  any: [
    { occurred_at: "1999-12-31T23:59:59.999Z" },
    { occurred_at: "2999-01-01T00:00:00Z" },
    { occurred_at: "2026-02-29T00:00:00Z" },
    { occurred_at: "2026-01-01T00:00:00" },
    { colour: "red" },
  ],
};

function post(now: number): fc.Arbitrary<Post> {
  return fc
    .tuple(
      project,
      fc.oneof(
        { weight: 3, arbitrary: fc.constant("api" as const) },
        fc.constantFrom("mcp" as const, "import" as const),
      ),
      fc.option(fc.constantFrom("k1", "k2", "k3", "k4"), { nil: undefined, freq: 2 }),
      message(now),
      fc.option(fc.nat(), { nil: undefined, freq: 8 }),
    )
    .map(([slug, source, key, posted, flawNumber]) => {
      const possible = [...flaws[posted.type], ...flaws.any];
      const flaw = flawNumber === undefined ? undefined : possible[flawNumber % possible.length];
      return {
        project: slug,
        source,
        message: posted,
        ...(key !== undefined && { idempotency_key: key }),
        ...(flaw && { flaw }),
      };
    });
}

/** Steps that bring a key to its limit and continue there: small charges, due periods, usage without cost. */
function tightPost(now: number): fc.Arbitrary<Post> {
  const amount = fc.constantFrom("0.1", "0.2", "0.3", "1", "5");
  const small = fc.oneof<fc.Arbitrary<Message>[]>(
    amount.map((text) => ({ type: "expense", vendor: "Figma", amount: text })),
    fc.tuple(amount, fc.integer({ min: 0, max: 5 })).map(([text, months]) => ({
      type: "subscription",
      vendor: "Figma",
      amount: text,
      recurring: true,
      starts_on: iso(monthsLater(now, -months)).slice(0, 10),
    })),
    fc.constantFrom({}, { estimated_cost: "0" }).map((cost) => ({
      ...{ type: "usage" as const, provider: "nobody", unit_type: "hugs", quantity: "1" },
      ...cost,
    })),
  );
  return small.map((posted) => ({ project: "alpha", source: "api", message: posted }));
}

/** What clients of a workspace do, step by step. @param lengths how many steps at least and at most */
export function steps(now: number, lengths = { minLength: 1, maxLength: 14 }): fc.Arbitrary<Step[]> {
  const keys = Object.keys(keyOptions) as KeyName[];
  const key = fc.oneof(
    { weight: 2, arbitrary: fc.constant<KeyName>("full") },
    { weight: 3, arbitrary: fc.constantFrom(...keys) },
  );
  const step = fc.oneof<fc.Arbitrary<Step>[]>(
    fc.record({
      key,
      posts: fc.array(post(now), { minLength: 1, maxLength: 1 }),
      way: fc.constant("single" as const),
    }),
    fc.record({
      key,
      posts: fc.array(post(now), { minLength: 1, maxLength: 12 }),
      way: fc.constantFrom("bulk" as const, "bulk" as const, "bulk trial" as const),
    }),
    fc.record({
      key,
      posts: post(now).map((one) => [{ ...one, idempotency_key: one.idempotency_key ?? "k5" }]),
      way: fc.constant("twice at once" as const),
    }),
    fc.record({
      key: fc.constantFrom<KeyName>("limited", "limitedToThirty", "limitedTrial"),
      posts: fc.array(tightPost(now), { minLength: 3, maxLength: 12 }),
      way: fc.constantFrom("bulk" as const, "bulk trial" as const),
    }),
    fc.record({ again: fc.nat(20) }),
  );
  return fc.array(step, { ...lengths, size: "max" });
}
