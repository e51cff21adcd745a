import { usage } from "./ingest";
import type { Part } from "./part";
import type { Figure, Round } from "./report";
import type { Stage } from "./stage";

type Name = "one" | "two";

/**
 * Measures what two workers are worth. Throughput beside the load and Postgres is bounded by this machine's processors, so it
 * is shown but has no target. Where Postgres runs elsewhere, the service's own CPU time is the bound: two workers on two
 * processors then record twice as much as one worker on one, divided by how much more CPU time a message takes them (with the
 * process that supervises them).
 */
export async function workersPart({ serve, keys }: Stage, requests: number): Promise<Part<Name>> {
  const call = (index: number) => usage(keys.many[index % keys.many.length] ?? "", index);
  return {
    figures,
    contenders: [
      { name: "one", server: await serve({ WEB_CONCURRENCY: "1" }), count: requests, call },
      { name: "two", server: await serve({ WEB_CONCURRENCY: "2" }), count: requests, call },
    ],
  };
}

const cpu = (name: Name) => (round: Round<Name>) => round[name].cpuMs;
const postgres = (name: Name) => (round: Round<Name>) => round[name].postgresCpuMs;

const figures: Figure<Name>[] = [
  { name: "one process: CPU of the service a message", unit: "ms", of: cpu("one") },
  { name: "two workers and supervisor: CPU of the service a message", unit: "ms", of: cpu("two") },
  { name: "one process: CPU of Postgres a message", unit: "ms", of: postgres("one") },
  { name: "two workers: CPU of Postgres a message", unit: "ms", of: postgres("two") },
  {
    name: "throughput of two workers to one where the service's CPU is the bound (from CPU time)",
    unit: "×",
    of: (round) => (2 * cpu("one")(round)) / cpu("two")(round),
    target: { text: "at least 1.6", holds: (median) => median >= 1.6 },
  },
  {
    name: "one process: throughput here, load and Postgres beside",
    unit: "/s",
    of: (round) => round.one.perSecond,
  },
  {
    name: "two workers: throughput here, load and Postgres beside",
    unit: "/s",
    of: (round) => round.two.perSecond,
  },
  {
    name: "throughput of two workers to one here",
    unit: "×",
    of: (round) => round.two.perSecond / round.one.perSecond,
  },
];
