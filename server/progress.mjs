// Prints the progress of a start: one line per step, with its time. Plain JavaScript, because the first steps run before
// anything is built.

/** @param {string} name @param {string} text @param {number} [sinceMs] */
function line(name, text, sinceMs) {
  const time = sinceMs === undefined ? "" : `  ${((performance.now() - sinceMs) / 1000).toFixed(1)} s`;
  process.stdout.write(`  ${name.padEnd(9)} ${text}${time}\n`);
}

/**
 * Keeps this process running after the reader of its output has ended (`npm start | head -1`, a closed terminal): a line that cannot be
 * written is lost instead of ending the process with an error.
 */
export function ignoreClosedOutput() {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
}

/**
 * Runs one step of the start and prints the line that `run` returns.
 * @param {string} name
 * @param {(note: (text: string) => void) => string | Promise<string>} run `note` prints another line before that
 */
export async function step(name, run) {
  const since = performance.now();
  line(name, await run((text) => line(name, text)), since);
}
