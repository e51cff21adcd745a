import fc from "fast-check";

const dimensions = [
  ...["project", "user", "key", "model", "provider", "feature", "type", "source", "unit", "environment"],
  ...["day", "week", "month", "tag:team", "tag:cost_center"],
];
/** The parts of the calendar by which spend is grouped. */
export const calendar = ["day", "week", "month"];

const groups = fc
  .subarray(dimensions, { maxLength: 2 })
  .chain((chosen) => fc.shuffledSubarray(chosen, { minLength: chosen.length }))
  .filter((chosen) => chosen.filter((each) => calendar.includes(each)).length < 2);

const measures = ["cost", "messages", "tokens", "cost_per_message", "cost_per_million_tokens"] as const;

const filterValues: Record<string, (string | null)[]> = {
  project: ["alpha", "beta", "gamma", "no-such-project"],
  type: ["usage", "batch", "allocation", "expense", "subscription"],
  provider: ["acme", "Figma", null],
  model: ["fast", "FAST", null],
  feature: ["chat", "search", null],
  user: ["anna@example.com", "bo", "nobody", null],
  source: ["api", "mcp", "import"],
  unit: ["input_tokens", "hugs", null],
  tag: ["team:growth", "cost_center:4711", null],
  "tag:team": ["growth", "search: relevance", null],
};
/** A filter of a question about spend. */
export type Filter = { field: string; op: "is" | "is_not"; values: (string | null)[] };
const filter: fc.Arbitrary<Filter> = fc.constantFrom(...Object.keys(filterValues)).chain((field) =>
  fc.record({
    field: fc.constant(field),
    op: fc.constantFrom("is" as const, "is_not" as const),
    values: fc.subarray(filterValues[field] ?? [], { minLength: 1 }),
  }),
);

/** Random questions about the spend that `recordRandomSpend` records. @param now in milliseconds since 1970 */
export function randomQuery(now: number) {
  const days = [
    "2023-12-31",
    "2024-02-29",
    "2025-12-29",
    "2026-01-01",
    new Date(now).toISOString().slice(0, 10),
  ];
  const range = fc
    .tuple(fc.constantFrom(...days), fc.constantFrom(...days))
    .map(([a, b]) => (a < b ? { from: a, to: b } : { from: b, to: a }))
    .filter(({ from, to }) => (Date.parse(to) - Date.parse(from)) / 86_400_000 < 800);

  return fc.record({
    group_by: groups,
    measure: fc.constantFrom(...measures),
    filters: fc.array(filter, { maxLength: 2 }),
    top: fc.constantFrom(1, 2, 4, 10),
    range,
  });
}
