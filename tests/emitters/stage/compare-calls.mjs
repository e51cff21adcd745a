/** What a call is compared by: its counts differ from those of every other call. */
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
