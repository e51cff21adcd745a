// Keeps the output of a program that runs beside another, so that the lines of the two do not mix.

/**
 * @param {(chunk: Uint8Array | string) => void} [print]
 * @returns `write` keeps what a program writes; from `show()` on it is printed, first what was kept, then the rest as it comes
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
