let last: Promise<unknown> = Promise.resolve();

/**
 * Runs one of the long pieces of work that wait for each other in this process, in the order in which they were asked
 * for. Exports read their pages so: however many there are, one at a time is read and written out, and whoever records or
 * reads a summary waits behind one page at most.
 */
export function inTurn<T>(run: () => Promise<T>): Promise<T> {
  const mine = last.then(run);
  last = mine.catch(() => {});
  return mine;
}
