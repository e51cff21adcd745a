import { showUsd } from "./prices.mjs";

/** What a call is compared by: its counts differ from those of every other call. How long a cache is kept shows in the cost. */
const show = ({ provider, model, input = 0, cacheRead = 0, cacheWrite = 0, output = 0 }) =>
  `${provider} ${model}: ${input} input, ${cacheRead} cache read, ${cacheWrite} cache write, ${output} output`;

/**
 * Compares the ledger's calls with those that the mock answered.
 * @returns the difference in words; undefined where each call is there once
 */
export function compareCalls(answered, recorded) {
  if (answered.length === 0) return "  The mock of the providers was not called.";
  const left = recorded.map(show);
  const absent = answered.map(show).filter((call) => {
    const at = left.indexOf(call);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  if (absent.length === 0 && left.length === 0) return undefined;
  return [
    ...absent.map((call) => `  not in the ledger: ${call}`),
    ...left.map((call) => `  only in the ledger: ${call}`),
  ].join("\n");
}

const namesOf = ["user", "feature"];

/**
 * What the table of a run says of an emitter: calls, dollars to the last digit, and which names the calls kept.
 * @returns `{ row, isSameCost }`; the cost is compared where the mock's price list has every model
 */
export function tableRow(name, versions, answered, recorded) {
  const isPriced = answered.length > 0 && answered.every(({ usd }) => usd !== undefined);
  const sum = (calls) => calls.reduce((total, { usd }) => total + (usd ?? 0n), 0n);
  const [expected, got] = [sum(answered), sum(recorded)];
  const difference = Number(((got - expected) * 1_000_000n) / (expected || 1n)) / 1e4;
  const kept = namesOf.filter((each) => recorded.length > 0 && recorded.every((call) => call[each]));
  const dollars = isPriced
    ? [showUsd(expected), showUsd(got), got === expected ? "exact" : `${difference} %`]
    : ["no price", showUsd(got), ""];
  return {
    isSameCost: !isPriced || got === expected,
    row: `| ${[name, versions, answered.length, recorded.length, ...dollars, kept.join(", ")].join(" | ")} |`,
  };
}

export const tableHead = [
  "| Emitter | Version | Calls | Recorded | USD billed | USD recorded | | Names kept by all |",
  "|---|---|---|---|---|---|---|---|",
];
