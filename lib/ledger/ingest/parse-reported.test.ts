import fc from "fast-check";
import { expect, test } from "vitest";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { ServiceError } from "@/lib/errors";
import { parseMessage, parseReported, type ReportedMessage } from "./parse-reported";

/** A valid value, or one at or beyond the contract's limits. */
const mostly = <T, U>(valid: fc.Arbitrary<T>, other: fc.Arbitrary<U>) =>
  fc.oneof({ weight: 12, arbitrary: valid }, { weight: 1, arbitrary: other });

const exact = mostly(
  fc.integer({ min: 1 }).map(String),
  fc.constantFrom("0", "999999999999999", "1000000000000000", "-1", "0.5", "007", "1e3", "1.50"),
).map((text) => new ExactNumber(text));

const instant = mostly(
  fc.constantFrom(undefined, "2026-11-22T09:00:00.000Z", "2026-11-22T09:00:00.001Z"),
  fc.constantFrom(
    "2026-02-30T09:00:00.000Z",
    "2026-11-22T24:00:00.000Z",
    "0000-12-31T23:59:59.999Z",
    "9999-12-31T23:59:59.999Z",
    "+010000-01-01T00:00:00.000Z",
    "2026-11-22T09:00Z",
    "yesterday",
  ),
);

const text = fc.constantFrom("", "a".repeat(256), "a\u0000b", "\ud800", "sk-0123456789abcdef0123");
const name = mostly(fc.constantFrom(undefined, "search", "eve@example.com"), text);

const lists = (...each: string[][]) => each;
const faultyUnits = fc.constantFrom(
  ...lists(
    [],
    [""],
    Array.from({ length: 21 }, () => "output_tokens"),
  ),
);

/** The fields that the calls of an export share, and the units of their lines. */
const kind = fc.record({
  project: mostly(fc.constantFrom("checkout", "search"), fc.constant("Not a slug")),
  about: fc.record({
    type: fc.constant("usage"),
    provider: mostly(fc.constantFrom("openai", "anthropic"), text),
    model: name,
    feature: name,
    user: name,
    session: name,
    tags: mostly(
      fc.constantFrom(undefined, { team: "growth" }),
      fc.constantFrom({ "not a name": "x" }, { team: "\ud800" }),
    ),
    included: fc.constantFrom(undefined, true),
  }),
  units: mostly(fc.constantFrom(...lists(["input_tokens"], ["input_tokens", "output_tokens"])), faultyUnits),
});

const exported = fc.tuple(kind, kind).chain((kinds) =>
  fc.array(
    fc.constantFrom(...kinds, { ...kinds[0], project: kinds[1].project }).chain(({ project, about, units }) =>
      fc.record({
        project: fc.constant(project),
        source: fc.constant("api" as const),
        about: fc.constant(about),
        counts: fc.record({
          occurred_at: instant,
          request_input_tokens: fc.option(exact, { nil: undefined }),
          lines: fc.tuple(
            ...units.map((unit_type) =>
              fc
                .tuple(exact, mostly(fc.constant(undefined), exact))
                .map(([quantity, cost]) => ({ unit_type, quantity, ...(cost && { estimated_cost: cost }) })),
            ),
          ),
        }),
      }),
    ),
    { maxLength: 12 },
  ),
);

test("Validates each message of an export as if it came alone", () => {
  fc.assert(
    fc.property(exported, (messages) => {
      const alone = messages.map(({ project, source, about, counts }) =>
        parseMessage({ project, source, message: { ...about, ...counts } }),
      );
      expect(parseReported(messages).map(comparable)).toEqual(alone.map(comparable));
    }),
    { numRuns: 300 },
  );
});

/** A refusal as a client sees it, or the message without undefined fields. */
function comparable(verdict: unknown) {
  return verdict instanceof ServiceError
    ? { code: verdict.code, message: verdict.message, fields: verdict.fields }
    : JSON.parse(JSON.stringify(verdict));
}

test("Keeps the counts of each message of an export", () => {
  const message = (quantity: string): ReportedMessage => ({
    project: "checkout",
    source: "api",
    about: { type: "usage", provider: "openai", model: "gpt-4o" },
    counts: {
      occurred_at: "2026-11-22T09:00:00.000Z",
      request_input_tokens: new ExactNumber("1200"),
      lines: [{ unit_type: "input_tokens", quantity: new ExactNumber(quantity) }],
    },
  });
  const parsed = parseReported([message("1"), message("2")]);
  const quantities = parsed.map((one) =>
    !(one instanceof ServiceError) && one.message.type === "usage" ? one.message.lines?.[0]?.quantity : one,
  );
  expect(quantities).toEqual(["1", "2"]);
});
