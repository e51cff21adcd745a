/** Values a chart spans, and the round ones among them that get a line. */
export type Scale = { min: number; max: number; ticks: number[] };

/**
 * A scale from zero (or below, where there are negative values) to a round number above the largest.
 * @param count how many lines there should be, about
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

/** How far below the top of the chart a value lies, as a part of its height in percent. */
export function fromTop(value: number, { min, max }: Scale): number {
  return ((max - value) / (max - min)) * 100;
}

/** A piece of a stacked bar. */
export type Piece = { group: number; top: number; height: number };

/** A bar's pieces, from zero upwards; negative ones from zero downwards. In percent of the chart's height. */
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
