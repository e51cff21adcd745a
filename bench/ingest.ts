import { toolCall } from "@/tests/helpers/tool-call";
import type { Call } from "./load";
import type { Part } from "./part";
import { atLeast, atMost, type Figure, type Round } from "./report";
import type { Contender, Stage } from "./stage";

const projects = 20;
const features = 8;

/** A usage message as a client sends it; the service prices it. */
export function usage(secret: string, index: number): Call {
  const body = JSON.stringify({
    project: `project-${index % projects}`,
    source: "api",
    message: {
      type: "usage",
      provider: "openai",
      model: "gpt-4o",
      unit_type: "input_tokens",
      quantity: 1_000 + (index % 997),
      feature: `feature-${index % features}`,
    },
  });
  return { method: "POST", path: "/api/v1/messages", secret, body };
}

/** The same usage as a tool call, in the current version of the protocol. */
function tool(secret: string, index: number): Call {
  const { body, headers } = toolCall(
    "2026",
    "log_usage",
    {
      project: `project-${index % projects}`,
      provider: "openai",
      model: "gpt-4o",
      unit_type: "input_tokens",
      quantity: 1_000 + (index % 997),
      feature: `feature-${index % features}`,
    },
    { id: index },
  );
  return { method: "POST", path: "/api/mcp", secret, body: JSON.stringify(body), headers };
}

/** A batch with this number of lines. */
function batch(secret: string, index: number, lines: number): Call {
  const items = Array.from({ length: lines }, (_, line) => ({
    model: "gpt-4o",
    unit_type: line % 2 === 0 ? "input_tokens" : "output_tokens",
    quantity: 1_000 + ((index + line) % 997),
    feature: `feature-${index % features}`,
  }));
  const body = JSON.stringify({
    project: `project-${index % projects}`,
    source: "api",
    message: { type: "batch", provider: "openai", batch_id: `batch-${index}`, items },
  });
  return { method: "POST", path: "/api/v1/messages", secret, body };
}

type Name =
  | "bare"
  | "floor"
  | "many"
  | "hot"
  | "lines1"
  | "lines4"
  | "tool"
  | "next"
  | "small"
  | "same"
  | "large";

/** Measures the requests of programs: messages, tool calls, and the month's summary. */
export function ingestPart({ bare, floor, fast, next, keys }: Stage, requests: number): Part<Name> {
  const one = (list: string[], index: number) => list[index % list.length] ?? "";
  const summary = (secret: string): Call => ({ method: "GET", path: "/api/v1/summary/month", secret });
  const contenders: [Name, Contender, number, (index: number) => Call][] = [
    ["bare", bare, requests, (index) => usage(one(keys.many, index), index)],
    ["floor", floor, requests, (index) => usage(one(keys.many, index), index)],
    ["many", fast, requests, (index) => usage(one(keys.many, index), index)],
    ["hot", fast, requests, (index) => usage(keys.hot, index)],
    ["lines1", fast, requests / 2, (index) => batch(one(keys.many, index), index, 1)],
    ["lines4", fast, requests / 2, (index) => batch(one(keys.many, index), index, 4)],
    ["tool", fast, requests / 2, (index) => tool(one(keys.many, index), index)],
    ["next", next, requests / 4, (index) => usage(one(keys.many, index), index)],
    ["small", fast, requests / 8, (index) => summary(one(keys.small, index))],
    ["same", fast, requests / 8, () => summary(one(keys.small, 0))],
    ["large", fast, requests / 80, () => summary(keys.large)],
  ];
  return {
    figures,
    contenders: contenders.map(([name, server, count, call]) => ({ name, server, count, call })),
  };
}

const cpu = (name: Name) => (round: Round<Name>) => round[name].cpuMs;
const postgres = (name: Name) => (round: Round<Name>) => round[name].postgresCpuMs;
const both = (name: Name) => (round: Round<Name>) => round[name].cpuMs + round[name].postgresCpuMs;
const rate = (name: Name) => (round: Round<Name>) => round[name].perSecond;
const ratio =
  (of: (round: Round<Name>) => number, to: (round: Round<Name>) => number) => (round: Round<Name>) =>
    of(round) / to(round);

const figures: Figure<Name>[] = [
  { name: "(a) bare endpoint: CPU a request", unit: "ms", of: cpu("bare") },
  { name: "(floor) CPU a request", unit: "ms", of: cpu("floor") },
  { name: "(floor) Postgres beside it: CPU a request", unit: "ms", of: postgres("floor") },
  { name: "(b) ingest, many keys: CPU a request", unit: "ms", of: cpu("many") },
  { name: "(b) Postgres beside it: CPU a request", unit: "ms", of: postgres("many") },
  { name: "(c) ingest, one limited key: CPU a request", unit: "ms", of: cpu("hot") },
  { name: "(c) Postgres beside it: CPU a request", unit: "ms", of: postgres("hot") },
  { name: "(d) ingest through Next: CPU a request", unit: "ms", of: cpu("next") },
  { name: "(d) Postgres beside it: CPU a request", unit: "ms", of: postgres("next") },
  { name: "(e) month summary, 1 k rows, many keys: CPU a request", unit: "ms", of: cpu("small") },
  { name: "(e) Postgres beside it: CPU a request", unit: "ms", of: postgres("small") },
  { name: "(e) month summary, 1 k rows, all by one key: CPU a request", unit: "ms", of: cpu("same") },
  { name: "(e) Postgres beside it: CPU a request", unit: "ms", of: postgres("same") },
  { name: "(e) month summary, 100 k rows: CPU a request", unit: "ms", of: cpu("large") },
  { name: "(e) Postgres beside it: CPU a request", unit: "ms", of: postgres("large") },
  { name: "(f) tool call of an agent: CPU a request", unit: "ms", of: cpu("tool") },
  { name: "(f) Postgres beside it: CPU a request", unit: "ms", of: postgres("tool") },
  {
    name: "a message (b) to the floor, service + Postgres",
    unit: "×",
    of: ratio(both("many"), both("floor")),
    target: atMost(2),
  },
  {
    name: "a message of four lines to one of one line, service + Postgres",
    unit: "×",
    of: ratio(both("lines4"), both("lines1")),
    target: atMost(1.6),
  },
  {
    name: "a tool call (f) to a message (b), service + Postgres",
    unit: "×",
    of: ratio(both("tool"), both("many")),
    target: atMost(2),
  },
  {
    name: "a month summary (e) to a message (b), service + Postgres",
    unit: "×",
    of: ratio(both("small"), both("many")),
    target: atMost(4),
  },
  {
    name: "a month summary, all by one key, to a message (b), service + Postgres",
    unit: "×",
    of: ratio(both("same"), both("many")),
  },
  { name: "(floor) throughput", unit: "/s", of: rate("floor") },
  { name: "(a) throughput", unit: "/s", of: rate("bare") },
  { name: "(b) throughput", unit: "/s", of: rate("many") },
  { name: "(c) throughput", unit: "/s", of: rate("hot") },
  { name: "(d) throughput", unit: "/s", of: rate("next") },
  { name: "(f) throughput", unit: "/s", of: rate("tool") },
  { name: "CPU of a tool call (f) to a bare endpoint (a)", unit: "×", of: ratio(cpu("tool"), cpu("bare")) },
  { name: "CPU of a tool call (f) to ingest (b)", unit: "×", of: ratio(cpu("tool"), cpu("many")) },
  {
    name: "CPU of Next (d) to the service without Next (b)",
    unit: "×",
    of: ratio(cpu("next"), cpu("many")),
    target: atLeast(5),
  },
  {
    name: "throughput of one hot key (c) to many (b)",
    unit: "%",
    of: (round) => 100 * ratio(rate("hot"), rate("many"))(round),
    target: atLeast(60),
  },
  {
    name: "Postgres CPU of a summary, 100 k to 1 k rows",
    unit: "×",
    of: ratio(postgres("large"), postgres("small")),
  },
];
