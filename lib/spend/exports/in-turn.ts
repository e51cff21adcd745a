let last: Promise<unknown> = Promise.resolve();

/**
 * Runs long pieces of work of this process one at a time, in the order of the calls. Exports read their pages this
 * way: only one page is read and written at a time, so recording and summaries wait behind one page at most.
 */
export function inTurn<T>(run: () => Promise<T>): Promise<T> {
  const mine = last.then(run);
  last = mine.catch(() => {});
  return mine;
}
