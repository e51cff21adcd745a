import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { type ExactClient, exactClient } from "@/tests/helpers/ledger/client";
import { dividedBy, type Exact, exact, show, total } from "@/tests/helpers/ledger/exact";
import { calendar, type Filter, randomQuery } from "@/tests/helpers/ledger/random-query";
import { recordRandomSpend } from "@/tests/helpers/ledger/random-spend";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { groupBy, type Line, nameIn, valueIn } from "@/tests/helpers/spend";

const harness = withSharedHarness();
const runs = Number(process.env.SPEND_RUNS ?? 60);
const now = Date.now();
const query = randomQuery(now);
type Asked = typeof query extends fc.Arbitrary<infer Value> ? Value : never;

let path: string;
let viewer: ExactClient;
let lines: Line[];
/** Keys by what they may read. */
let confined: { client: ExactClient; reads: (line: Line) => boolean }[];

beforeAll(async () => {
  const spend = await recordRandomSpend(harness, { now, seed: 11 });
  ({ viewer, lines } = spend);
  path = `/api/v1/workspaces/${spend.slug}/spend/query`;
  const keys: [Record<string, unknown>, (line: Line) => boolean][] = [
    [{}, () => true],
    [{ conditions: { project_slugs: ["alpha"] } }, ({ project }) => project === "alpha"],
    [
      { conditions: { deny_project_slugs: ["alpha", "beta"] } },
      ({ project }) => !["alpha", "beta"].includes(project),
    ],
    [{ conditions: { users: ["bo"] } }, ({ user }) => user === "bo"],
  ];
  confined = await Promise.all(
    keys.map(async ([settings, reads]) => ({
      client: exactClient(spend.baseUrl, (await harness.fixtures.key(spend.id, settings)).secret),
      reads: (line: Line) => line.environment === "live" && reads(line),
    })),
  );
}, 120_000);

function passes(line: Line, { field, op, values }: Filter): boolean {
  const has =
    field === "tag"
      ? values.some((value) => (value === null ? line.tags === null : line.tags?.includes(value)))
      : values.some((value) => nameIn(field, value) === nameIn(field, valueIn(line, field)));
  return has === (op === "is");
}

type Sums = {
  cost_usd: string;
  message_count: string;
  tokens: string | null;
  token_cost_usd: string | null;
  measured: string | null;
};
type Group = Sums & { value: string | null; name: string | null; is_rest: boolean };
type Axis = { dimension: string | null; groups: Group[]; rest_count: string };
type Answer = { totals: Sums; rows: Axis; columns: Axis; cells: (Sums & { row: string; column: string })[] };

type Expected = { cost: Exact; messages: number; tokens: Exact; tokenCost: Exact };
const isTokens = ({ unit }: Line) => unit?.endsWith("tokens") === true;
const expectedOf = (of: Line[]): Expected => ({
  cost: total(of.map(({ amount }) => amount)),
  messages: of.filter(({ isFirst }) => isFirst).length,
  tokens: total(of.filter(isTokens).map(({ quantity }) => quantity ?? 0n)),
  tokenCost: total(of.filter(isTokens).map(({ amount }) => amount)),
});

function expectSums(actual: Sums, { cost, messages, tokens, tokenCost }: Expected, measure: string) {
  const needsTokens = measure === "tokens" || measure === "cost_per_million_tokens";
  expect(show(exact(actual.cost_usd))).toBe(show(cost));
  expect(Number(actual.message_count)).toBe(messages);
  expect(actual.tokens && show(exact(actual.tokens))).toBe(needsTokens ? show(tokens) : null);
  expect(actual.token_cost_usd && show(exact(actual.token_cost_usd))).toBe(
    needsTokens ? show(tokenCost) : null,
  );
  const measured = {
    cost,
    messages: exact(String(messages)),
    tokens,
    cost_per_message: messages === 0 ? null : dividedBy(cost, exact(String(messages))),
    cost_per_million_tokens: tokens === 0n ? null : dividedBy(tokenCost * 1_000_000n, tokens),
  }[measure as Asked["measure"]];
  expect(actual.measured && show(exact(actual.measured))).toBe(measured === null ? null : show(measured));
}

/** Compares an answer with the lines of the ledger that it is about. */
function expectAnswer(answer: Answer, of: Line[], { group_by: by, measure, top }: Asked) {
  expectSums(answer.totals, expectedOf(of), measure);
  const placeOf = [answer.rows, answer.columns].map((axis, side) => {
    const dimension = by[side];
    expect(axis.dimension).toBe(dimension ?? null);
    if (dimension === undefined) return () => 0;
    const listed = axis.groups.filter(({ is_rest: isRest }) => !isRest);
    if (!calendar.includes(dimension)) {
      expect(listed.length).toBeLessThanOrEqual(top);
      const names = new Set(listed.map(({ value }) => nameIn(dimension, value)));
      expect(names.size).toBe(listed.length);
      expect(axis.groups.length - listed.length).toBe(Number(axis.rest_count) > 0 ? 1 : 0);
    }
    const places = new Map(listed.map(({ value }, place) => [nameIn(dimension, value), place]));
    return (line: Line) => places.get(nameIn(dimension, valueIn(line, dimension))) ?? listed.length;
  });
  const [rowOf = () => 0, columnOf = () => 0] = placeOf;
  for (const [axis, place] of [
    [answer.rows, rowOf],
    [answer.columns, columnOf],
  ] as const) {
    for (const [index, group] of axis.groups.entries())
      expectSums(group, expectedOf(of.filter((line) => place(line) === index)), measure);
  }
  const cells = new Map(answer.cells.map((cell) => [`${cell.row} ${cell.column}`, cell]));
  expect(cells.size).toBe(answer.cells.length);
  for (const [place, inCell] of groupBy(of, (line) => `${rowOf(line)} ${columnOf(line)}`)) {
    const sums = expectedOf(inCell);
    const cell = cells.get(place);
    cells.delete(place);
    if (cell) expectSums(cell, sums, measure);
    else expect([sums.cost, sums.messages]).toEqual([0n, 0]);
  }
  expect([...cells.keys()]).toEqual([]);
  for (const name of ["cost_usd", "message_count", "tokens", "token_cost_usd"] as const)
    expect(show(total(answer.cells.map((cell) => exact(cell[name] ?? "0"))))).toBe(
      show(exact(answer.totals[name] ?? "0")),
    );
}

test("Answers every query of a member with cells that sum to its totals and to the ledger's postings", {
  timeout: 3_000 * runs + 60_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(query, fc.constantFrom("live", "test", "all"), async (asked, environment) => {
      const { range: within, ...rest } = asked;
      const { status, body } = await viewer.send(path, { ...rest, ...within, environment });
      if (body.error === "validation_failed") {
        expect(JSON.stringify(body)).toContain("an answer has at most 5000");
        return;
      }
      expect(status, JSON.stringify(body)).toBe(200);
      const of = lines.filter(
        (line) =>
          (environment === "all" || line.environment === environment) &&
          line.at.slice(0, 10) >= within.from &&
          line.at.slice(0, 10) <= within.to &&
          asked.filters.every((each) => passes(line, each)),
      );
      expectAnswer(body as unknown as Answer, of, asked);
    }),
    { numRuns: runs, endOnFailure: true },
  );
});

test("Answers every query of an API key with the postings that it may read, and no others", {
  timeout: 3_000 * runs + 60_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(query, fc.nat({ max: 3 }), async (asked, index) => {
      const { range: days, ...rest } = asked;
      const key = confined[index];
      if (!key) throw new Error("There are four keys.");
      const { status, body } = await key.client.send("/api/v1/spend/query", { ...rest, ...days });
      if (body.error === "validation_failed") return;
      expect(status, JSON.stringify(body)).toBe(200);
      const of = lines.filter(
        (line) =>
          key.reads(line) &&
          line.at.slice(0, 10) >= days.from &&
          line.at.slice(0, 10) <= days.to &&
          asked.filters.every((each) => passes(line, each)),
      );
      expectAnswer(body as unknown as Answer, of, asked);
    }),
    { numRuns: runs, endOnFailure: true },
  );
});
