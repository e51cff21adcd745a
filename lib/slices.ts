import { setImmediate as turn } from "node:timers/promises";

/** How long work may block the event loop before other requests are answered, ms. */
const sliceMs = 10;

/**
 * Divides long work into slices, between which the event loop answers other requests.
 * @returns a function to call between two steps of the work. It returns undefined until the slice is used up, then a promise to await
 */
export function slicer(): () => Promise<void> | undefined {
  let untilMs = performance.now() + sliceMs;
  return () => {
    if (performance.now() < untilMs) return undefined;
    return turn().then(() => {
      untilMs = performance.now() + sliceMs;
    });
  };
}

/** `items.map(each)` in slices. */
export async function mapInSlices<Item, Result>(
  items: readonly Item[],
  each: (item: Item, index: number) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  const pause = slicer();
  for (const [index, item] of items.entries()) {
    results.push(each(item, index));
    const pausing = pause();
    if (pausing) await pausing;
  }
  return results;
}
