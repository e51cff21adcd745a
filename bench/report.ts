import type { LoadResult } from "./load";

/**
 * A load's result with its CPU time per request, of the server and of Postgres, in ms. `holdMs`: the longest time for which the
 * server's event loop was blocked, if that was measured.
 */
export type Measurement = LoadResult & { cpuMs: number; postgresCpuMs: number; holdMs?: number };

/** Median, minimum and maximum of the rounds. */
export type Spread = { median: number; min: number; max: number };

/** The results of each contender in one round. */
export type Round<Name extends string> = Record<Name, Measurement>;

/** What the median of a figure should be. */
export type Target = { text: string; holds: (median: number) => boolean };

export function atMost(limit: number): Target {
  return { text: `at most ${limit}`, holds: (median) => median <= limit };
}

export function atLeast(limit: number): Target {
  return { text: `at least ${limit}`, holds: (median) => median >= limit };
}

/** A figure: how it is computed from a round, and its target. */
export type Figure<Name extends string> = {
  name: string;
  unit: "ms" | "/s" | "×" | "%";
  of: (round: Round<Name>) => number;
  target?: Target;
};

/** A figure with its result, and whether it reached its target. */
export type Summary = Spread & { name: string; unit: string; target?: string; holds?: boolean };

/** Computes the figures of the rounds and compares them with their targets. */
export function summarise<Name extends string>(figures: Figure<Name>[], rounds: Round<Name>[]): Summary[] {
  return figures.map(({ name, unit, of, target }) => {
    const spread = spreadOf(rounds.map(of));
    return {
      name,
      unit,
      ...spread,
      ...(target && { target: target.text, holds: target.holds(spread.median) }),
    };
  });
}

/** Formats the figures as a table. */
export function formatTable(summary: Summary[]): string {
  const width = Math.max(...summary.map(({ name }) => name.length));
  const lines = summary.map(({ name, unit, median, min, max, target, holds }) => {
    const show = (value: number) => (unit === "/s" || unit === "%" ? value.toFixed(0) : value.toPrecision(3));
    const verdict = target === undefined ? "" : `  ${target}: ${holds ? "holds" : "MISSED"}`;
    const figure = `${show(median)} ${unit}`.padStart(11);
    return `  ${name.padEnd(width)} ${figure}  ${`(${show(min)} to ${show(max)})`.padEnd(18)}${verdict}`;
  });
  return lines.map((line) => line.trimEnd()).join("\n");
}

function spreadOf(values: number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const at = (index: number) => sorted[index] ?? Number.NaN;
  const median = Number.isInteger(middle) ? (at(middle - 1) + at(middle)) / 2 : at(Math.floor(middle));
  return { median, min: at(0), max: at(sorted.length - 1) };
}
