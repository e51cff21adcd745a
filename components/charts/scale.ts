/** The range of values of a chart, and the round values that get a grid line. */
export type Scale = { min: number; max: number; ticks: number[] };

/**
 * A scale from zero (or below, where there are negative values) to a round number above the largest.
 * @param count the approximate number of grid lines
 */
export function makeScale(values: number[], count = 4): Scale {
  const low = Math.min(0, ...values);
  const high = Math.max(0, ...values);
  const step = roundStep((high - low || 1) / count);
  const first = Math.floor(low / step);
  const last = Math.max(Math.ceil(high / step), first + 1);
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
  return { min: first * step, max: last * step, ticks };
}

/** 1, 2 or 5 times a power of ten, not less than `size`. */
function roundStep(size: number): number {
  const power = 10 ** Math.floor(Math.log10(size));
  const multiple = [1, 2, 5, 10].find((each) => each * power >= size) ?? 10;
  return multiple * power;
}

/** The distance of a value from the top of the chart, in percent of its height. */
export function fromTop(value: number, { min, max }: Scale): number {
  return ((max - value) / (max - min)) * 100;
}

/** A segment of a stacked bar: the index of its group, and its position and height in percent of the chart's height. */
export type Piece = { group: number; top: number; height: number };

/** The segments of a bar: positive amounts are stacked above zero, negative ones below it. */
export function stack(amounts: number[], scale: Scale): Piece[] {
  let up = 0;
  let down = 0;
  return amounts.flatMap((amount, group) => {
    if (amount === 0) return [];
    const from = amount > 0 ? up : down;
    const to = from + amount;
    if (amount > 0) up = to;
    else down = to;
    const top = fromTop(Math.max(from, to), scale);
    return [{ group, top, height: fromTop(Math.min(from, to), scale) - top }];
  });
}
