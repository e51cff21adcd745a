// Keeps the output of a program that runs at the same time as another, so that their lines do not mix.

/**
 * Collects output until it may be shown.
 * @param {(chunk: Uint8Array | string) => void} [print] prints a chunk, by default to the standard output
 * @returns `write(chunk)`, which keeps a chunk, and `show()`, which prints the kept chunks in order. After `show()`, `write`
 *   prints each chunk immediately.
 */
export function keepOutput(print = (chunk) => void process.stdout.write(chunk)) {
  /** @type {(Uint8Array | string)[]} */
  const kept = [];
  let shown = false;
  return {
    /** @param {Uint8Array | string} chunk */
    write(chunk) {
      if (shown) print(chunk);
      else kept.push(chunk);
    },
    show() {
      shown = true;
      for (const chunk of kept.splice(0)) print(chunk);
    },
  };
}
