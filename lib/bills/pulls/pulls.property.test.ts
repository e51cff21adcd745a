import { createHash } from "node:crypto";
import fc from "fast-check";
import { parse } from "lossless-json";
import { describe, expect, test } from "vitest";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { compare, parseDecimal, shiftDecimal, sum, toText } from "@/lib/decimal";
import { addDays } from "@/lib/spend/period";
import { chooseDays, type KnownStatement, type PulledDay } from "./choose-days";
import type { Ask, PulledPage } from "./provider";
import { providers } from "./providers";
import { wholeDays } from "./whole-days";

const from = "2026-09-01";

/** Answers with a text, whatever is asked for; Anthropic's report of usage has nothing. */
const answering =
  (text: string): Ask =>
  async (path, _query, schema) => {
    const answer = path.endsWith("/analytics/usage") ? '{"data":[],"has_more":false}' : text;
    return schema.parse(parse(answer, undefined, (number) => new ExactNumber(number)));
  };

async function rowsOf(pages: AsyncIterable<PulledPage>) {
  const rows = [];
  for await (const page of pages) rows.push(...page.flatMap((day) => day.rows));
  return rows;
}

/** An amount of dollars with up to 12 decimals, and ways to write it: plain, with zeros at its end, with an exponent. */
const amount = fc
  .bigInt({ min: -(10n ** 20n), max: 10n ** 20n })
  .map((digits) => shiftDecimal(parseDecimal(digits), -12));
const written = (text: string) => [
  text,
  text.includes(".") ? `${text}00` : `${text}.00`,
  `${text}e0`,
  `${text}E+0`,
];

describe("An amount", () => {
  const range = { from, until: addDays(from, 1) };
  const openai = (value: string) =>
    `{"data":[{"start_time":${Date.parse(from) / 1000},"results":[{"amount":{"value":${value},"currency":"usd"}}]}],"has_more":false}`;
  const anthropic = (value: string) =>
    `{"data":[{"starting_at":"${from}T00:00:00Z","group":{},"cost":{"amount":${value},"currency":"USD"}}],"has_more":false}`;
  const openrouter = (value: string) => `{"data":[{"date":"${from}","model":"m","usage":${value}}]}`;
  const cursor = (value: string) =>
    `{"usageEvents":[{"model":"m","kind":"Usage-based","chargedCents":${value}}]}`;
  const github = (value: string) =>
    `{"usageItems":[{"date":"${from}","product":"Copilot","sku":"s","model":"m","unitType":"requests","quantity":1,"grossQuantity":1,"grossAmount":${value},"netAmount":${value}}]}`;

  test("is dollars at OpenAI, OpenRouter and GitHub, cents at Anthropic and Cursor, however it is written", async () => {
    await fc.assert(
      fc.asyncProperty(amount, fc.boolean(), async (dollars, isText) => {
        const quote = (text: string) => (isText ? `"${text}"` : text);
        for (const [provider, answer, stated] of [
          ["openai", openai, dollars],
          ["openrouter", openrouter, dollars],
          ["github", github, dollars],
          ["anthropic", anthropic, shiftDecimal(dollars, 2)],
          ["cursor", cursor, shiftDecimal(dollars, 2)],
        ] as const)
          for (const text of written(toText(stated))) {
            const rows = await rowsOf(
              providers[provider].pull(answering(answer(quote(text))), range, "acme"),
            );
            expect(
              rows.map((row) => toText(row.amount)),
              `${provider} ${text}`,
            ).toEqual([toText(dollars)]);
          }
      }),
      { numRuns: 60 },
    );
  });

  test("of another currency, or that is no number, is refused", async () => {
    const euros = openai("1").replace('"usd"', '"eur"');
    await expect(rowsOf(providers.openai.pull(answering(euros), range, ""))).rejects.toThrow(/USD/);
    for (const text of ['"one"', "null", "true", '""'])
      await expect(rowsOf(providers.openai.pull(answering(openai(text)), range, "")), text).rejects.toThrow();
  });
});

describe("Days", () => {
  const row = (usd: string) => ({
    ...{ line: "l", model: "m", unit: null, tier: null, key: null, user: null, list: null, quantity: null },
    amount: parseDecimal(usd) as PulledPage[number]["rows"][number]["amount"],
  });

  test("are whole wherever a provider ends its pages, and have what all rows sum to", async () => {
    const cents = fc.array(
      fc.record({ day: fc.nat({ max: 9 }), cents: fc.nat({ max: 10_000 }), cut: fc.boolean() }),
    );
    await fc.assert(
      fc.asyncProperty(cents, async (lines) => {
        const ordered = [...lines].sort((a, b) => a.day - b.day);
        const pages: PulledPage[] = [[]];
        for (const { day, cents: billed, cut } of ordered) {
          if (cut) pages.push([]);
          pages.at(-1)?.push({ day: addDays(from, day), rows: [row(String(billed / 100))] });
        }
        const source = (async function* () {
          yield* pages;
        })();
        const days: PulledDay[] = [];
        for await (const found of wholeDays(source, { from, until: addDays(from, 10) })) days.push(...found);
        expect(days.map(({ day }) => day)).toEqual(Array.from({ length: 10 }, (_, at) => addDays(from, at)));
        for (const [at, { amount: billed }] of days.entries()) {
          const own = ordered.filter(({ day }) => day === at).map((line) => parseDecimal(line.cents / 100));
          expect(compare(billed, sum(own))).toBe(0);
        }
      }),
    );
  });

  test("that go back are not taken, because the day before was stored", async () => {
    const pages = [[{ day: "2026-09-03", rows: [] }], [{ day: "2026-09-02", rows: [] }]];
    const source = (async function* () {
      yield* pages;
    })();
    await expect(async () => {
      for await (const _ of wholeDays(source, { from, until: "2026-09-05" }));
    }).rejects.toThrow(/goes back to 2026-09-02/);
  });
});

describe("A pulled day", () => {
  const account = {
    provider: "openai",
    account: "",
    changesFrom: "2026-09-20",
    hasData: false,
    acceptsJump: false,
  };
  const dayOf = (day: string, usd: string | null, line = "l"): PulledDay => {
    const billed = parseDecimal(usd ?? "0");
    const fact = {
      line,
      model: null,
      unit: null,
      tier: null,
      key: null,
      user: null,
      list: null,
      quantity: null,
    };
    return { day, amount: billed, facts: usd === null ? [] : [{ ...fact, amount: billed }] };
  };
  test("has the same hash as before bills had people where it names nobody, and another where it names one", () => {
    const changed = (user: string | null) => {
      const { facts, ...day } = dayOf("2026-09-01", "1.50");
      const days = [{ ...day, facts: facts.map((fact) => ({ ...fact, user })) }];
      return chooseDays(days, [], account).changed.map(({ sha256 }) => sha256);
    };
    const before = createHash("sha256").update('["l",null,null,null,null,"1.5",null,null]').digest("hex");
    expect(changed(null)).toEqual([before]);
    expect(changed("ada@example.com")).not.toEqual([before]);
  });
  const stored = (days: ReturnType<typeof chooseDays>["changed"], more: Partial<KnownStatement> = {}) =>
    days.map(({ day, amount: billed, sha256 }) => ({
      ...{ provider: "openai", account: "", from: day, until: addDays(day, 1) },
      ...{ amount_usd: toText(billed), sha256, ...more },
    }));
  const daysFrom = (count: number, usd: string) =>
    Array.from({ length: count }, (_, at) => dayOf(addDays(from, at), usd));
  const chosenOf = (...given: Parameters<typeof chooseDays>) => {
    const { changed, held } = chooseDays(...given);
    return { changed: changed.map(({ day }) => day), held: held.map(({ day }) => day) };
  };

  test("is stored once, and again where a fact of it has changed", () => {
    const first = chooseDays(daysFrom(3, "2"), [], account);
    expect(first.changed).toHaveLength(3);
    expect(chosenOf(daysFrom(3, "2.00"), stored(first.changed), account).changed).toEqual([]);
    const renamed = [dayOf(from, "2", "another line")];
    expect(chosenOf(renamed, stored(first.changed), account).changed).toEqual([from]);
  });

  test("without costs is stored after the first costs, once it has settled; or where it had costs", () => {
    const days = [
      dayOf("2026-09-01", null),
      dayOf("2026-09-02", "1"),
      dayOf("2026-09-03", null),
      dayOf("2026-09-21", null),
    ];
    expect(chosenOf(days, [], account).changed).toEqual(["2026-09-02", "2026-09-03"]);
    const before = chooseDays([dayOf("2026-09-21", "1")], [], account).changed;
    expect(chosenOf([dayOf("2026-09-21", null)], stored(before), account).changed).toEqual(["2026-09-21"]);
  });

  test("of twenty times the usual amount is held, of less and of a few cents it is not", () => {
    const usual = daysFrom(8, "0.5");
    const known = stored(chooseDays(usual, [], account).changed);
    const next = addDays(from, 8);
    expect(chosenOf([dayOf(next, "9.99")], known, account)).toEqual({ changed: [next], held: [] });
    expect(chosenOf([dayOf(next, "10")], known, account)).toEqual({ changed: [], held: [next] });
    expect(chosenOf([dayOf(next, "10")], known, { ...account, acceptsJump: true }).held).toEqual([]);
    expect(chosenOf([dayOf(next, "10")], known.slice(0, 6), account).held).toEqual([]);
    const small = stored(chooseDays(daysFrom(8, "0.001"), [], account).changed);
    expect(chosenOf([dayOf(next, "0.99")], small, account).held).toEqual([]);
  });

  test("is left to a file that bills a longer period of the same money", () => {
    const month = {
      provider: "openai",
      account: "",
      from,
      until: "2026-10-01",
      amount_usd: "9",
      sha256: null,
    };
    expect(chosenOf(daysFrom(3, "1"), [month], account).changed).toEqual([]);
    const named = { ...account, account: "b" };
    expect(chosenOf(daysFrom(1, "1"), [{ ...month, account: "a" }], named).changed).toEqual([from]);
    const daily = { ...month, until: addDays(from, 1) };
    expect(chosenOf(daysFrom(1, "1"), [daily], account).changed).toEqual([from]);
  });
});
