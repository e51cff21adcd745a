// What a person sees while the service starts: one line a step, with its time. Plain JavaScript, because the first
// steps come before anything is built.

/** @param {string} name @param {string} text @param {number} [sinceMs] */
function line(name, text, sinceMs) {
  const time = sinceMs === undefined ? "" : `  ${((performance.now() - sinceMs) / 1000).toFixed(1)} s`;
  process.stdout.write(`  ${name.padEnd(9)} ${text}${time}\n`);
}

/**
 * Runs one step of the start and prints a line when it is done; `run` returns what the line says.
 * @param {string} name
 * @param {(note: (text: string) => void) => string | Promise<string>} run `note` prints a line of its own meanwhile.
 */
export async function step(name, run) {
  const since = performance.now();
  line(name, await run((text) => line(name, text)), since);
}
