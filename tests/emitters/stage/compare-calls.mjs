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

/**
 * Sets apart the streams that broke off: an emitter knows of their counts at most what the beginning of the stream had, which is all of
 * the input and no output.
 * @returns `{ whole, kept, cut }`: the calls that were answered as a whole, what the ledger has of them, and of the others in words
 */
export function withoutCut(answered, recorded) {
  const begun = answered.filter(({ isCut }) => isCut);
  const left = begun.map((call) => show({ ...call, output: 0 }));
  const kept = recorded.filter((call) => {
    const at = (call.output ?? 0) > 1 ? -1 : left.indexOf(show({ ...call, output: 0 }));
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  const cut = begun.length > 0 ? `${begun.length}, ${begun.length - left.length}` : "";
  return { whole: answered.filter(({ isCut }) => !isCut), kept, cut };
}

const namesOf = ["user", "feature"];

/**
 * What the table of a run says of an emitter: calls, dollars to the last digit, and which names the calls kept.
 * @param inexact what is not told, for a cost that differs
 * @returns `{ row, isSameCost }`; the cost is compared where the mock's price list has every model
 */
export function tableRow({ name, versions, answered, recorded, cut, inexact = "" }) {
  const isPriced = answered.length > 0 && answered.every(({ usd }) => usd !== undefined);
  const sum = (calls) => calls.reduce((total, { usd }) => total + (usd ?? 0n), 0n);
  const [expected, got] = [sum(answered), sum(recorded)];
  const difference = Number(((got - expected) * 1_000_000n) / (expected || 1n)) / 1e4;
  const kept = namesOf.flatMap((name) => {
    const having = recorded.filter((call) => call[name]).length;
    if (having === 0) return [];
    return [having === recorded.length ? name : `${name} (${having} of ${recorded.length})`];
  });
  const isSameCost = !isPriced || got === expected;
  const dollars = isPriced ? [showUsd(expected), showUsd(got)] : ["no price", showUsd(got)];
  const percent = difference === 0 ? "less than 0.0001 %" : `${difference} %`;
  const because = isSameCost ? "" : `${percent}: ${inexact}`;
  const cells = [
    name,
    versions,
    `${answered.length}, ${recorded.length}`,
    ...dollars,
    kept.join(", "),
    cut,
    because,
  ];
  return { isSameCost, row: `| ${cells.join(" | ")} |` };
}

export const tableHead = [
  "| Emitter | Version | Calls, recorded | USD billed | USD recorded | Names kept | Cut streams, recorded | Inexact because |",
  "|---|---|---|---|---|---|---|---|",
];
