/**
 * Chooses which requests to trace: at most so many a second. Traces of a busy service have a bounded cost, and a service with
 * few requests traces all of them.
 * @param perSecond how many a second; up to as many are chosen at once after a second without one
 * @param now milliseconds of a clock that never goes back
 * @returns whether to trace the present request; each call is for another one
 */
export function traceRate(perSecond: number, now: () => number = () => performance.now()): () => boolean {
  let left = perSecond;
  let at = now();
  return () => {
    const time = now();
    left = Math.min(perSecond, left + ((time - at) / 1000) * perSecond);
    at = time;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}
