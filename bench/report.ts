import type { LoadResult } from "./load";

/** A load with what it cost: CPU time a request, of the server and of Postgres beside it. */
export type Measurement = LoadResult & { cpuMs: number; postgresCpuMs: number };

/** Median, least and most of the rounds. */
export type Spread = { median: number; min: number; max: number };

/** A figure of the rounds: how it is worked out, and what it is to be. */
type Figure = { name: string; unit: "ms" | "/s" | "×" | "%"; of: (round: Round) => number; target?: Target };
type Target = { text: string; holds: (median: number) => boolean };

/** What each contender did in one round. */
export type Round = Record<"bare" | "many" | "hot" | "tool" | "next" | "small" | "large", Measurement>;

const cpu = (name: keyof Round) => (round: Round) => round[name].cpuMs;
const postgres = (name: keyof Round) => (round: Round) => round[name].postgresCpuMs;
const rate = (name: keyof Round) => (round: Round) => round[name].perSecond;
const ratio = (of: (round: Round) => number, to: (round: Round) => number) => (round: Round) =>
  of(round) / to(round);

const figures: Figure[] = [
  { name: "(a) bare endpoint: CPU a request", unit: "ms", of: cpu("bare") },
  { name: "(b) ingest, many keys: CPU a request", unit: "ms", of: cpu("many") },
  { name: "(b) Postgres beside it: CPU a request", unit: "ms", of: postgres("many") },
  { name: "(c) ingest, one limited key: CPU a request", unit: "ms", of: cpu("hot") },
  { name: "(c) Postgres beside it: CPU a request", unit: "ms", of: postgres("hot") },
  { name: "(d) ingest through Next: CPU a request", unit: "ms", of: cpu("next") },
  { name: "(d) Postgres beside it: CPU a request", unit: "ms", of: postgres("next") },
  { name: "(e) month summary, 1 k rows: CPU a request", unit: "ms", of: cpu("small") },
  { name: "(e) Postgres beside it: CPU a request", unit: "ms", of: postgres("small") },
  { name: "(e) month summary, 100 k rows: CPU a request", unit: "ms", of: cpu("large") },
  { name: "(e) Postgres beside it: CPU a request", unit: "ms", of: postgres("large") },
  { name: "(f) tool call of an agent: CPU a request", unit: "ms", of: cpu("tool") },
  { name: "(f) Postgres beside it: CPU a request", unit: "ms", of: postgres("tool") },
  { name: "(a) throughput", unit: "/s", of: rate("bare") },
  { name: "(b) throughput", unit: "/s", of: rate("many") },
  { name: "(c) throughput", unit: "/s", of: rate("hot") },
  { name: "(d) throughput", unit: "/s", of: rate("next") },
  { name: "(f) throughput", unit: "/s", of: rate("tool") },
  {
    name: "CPU of ingest (b) to a bare endpoint (a)",
    unit: "×",
    of: ratio(cpu("many"), cpu("bare")),
    target: { text: "at most 2.5", holds: (median) => median <= 2.5 },
  },
  { name: "CPU of a tool call (f) to a bare endpoint (a)", unit: "×", of: ratio(cpu("tool"), cpu("bare")) },
  { name: "CPU of a tool call (f) to ingest (b)", unit: "×", of: ratio(cpu("tool"), cpu("many")) },
  {
    name: "CPU of Next (d) to the fast lane (b)",
    unit: "×",
    of: ratio(cpu("next"), cpu("many")),
    target: { text: "at least 5", holds: (median) => median >= 5 },
  },
  {
    name: "throughput of one hot key (c) to many (b)",
    unit: "%",
    of: (round) => 100 * ratio(rate("hot"), rate("many"))(round),
    target: { text: "at least 60", holds: (median) => median >= 60 },
  },
  {
    name: "Postgres CPU of a summary, 100 k to 1 k rows",
    unit: "×",
    of: ratio(postgres("large"), postgres("small")),
  },
];

/** The figures of the rounds, with what became of the targets. */
export function summarise(rounds: Round[]) {
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

/** The figures as a table for people. */
export function formatTable(summary: ReturnType<typeof summarise>): string {
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
