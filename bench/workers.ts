import { usage } from "./ingest";
import { connections } from "./load";
import type { Part } from "./part";
import { atLeast, type Figure, type Round } from "./report";
import type { Contender, Stage } from "./stage";

type Name = "one" | "two" | "one, few" | "two, few";

/** The connections that keep two workers busy, and those of other parts. */
const many = 256;
const few = connections;

/**
 * Measures the gain of a second worker. The load generator and Postgres run on the same processors and limit the throughput, so it
 * is shown but has no target. If Postgres runs elsewhere, the service's own CPU time is the limit: two workers on two processors
 * then record twice as much as one worker on one, divided by the factor by which a message takes more CPU time (including the
 * supervisor's). With few connections, each worker's groups are half as large, and a message costs more.
 */
export async function workersPart({ serve, keys }: Stage, requests: number): Promise<Part<Name>> {
  const call = (index: number) => usage(keys.many[index % keys.many.length] ?? "", index);
  const one = await serve({ WEB_CONCURRENCY: "1" });
  const two = await serve({ WEB_CONCURRENCY: "2" });
  // Each process records the same number of messages before the first round, because their cost falls until its code is compiled.
  const task = (name: Name, server: Contender, clients: number) => ({
    name,
    server,
    count: requests,
    warmUp: server === two ? 2 * requests : requests,
    call,
    pace: { clients },
  });
  return {
    figures,
    contenders: [
      task("one", one, many),
      task("two", two, many),
      task("one, few", one, few),
      task("two, few", two, few),
    ],
  };
}

const cpu = (name: Name) => (round: Round<Name>) => round[name].cpuMs;
const postgres = (name: Name) => (round: Round<Name>) => round[name].postgresCpuMs;

/** How much more two workers record than one where the service's CPU time is the bound. */
const bound = (one: Name, two: Name) => (round: Round<Name>) => (2 * cpu(one)(round)) / cpu(two)(round);

const figures: Figure<Name>[] = [
  { name: "one process: CPU of the service a message", unit: "ms", of: cpu("one") },
  { name: "two workers and supervisor: CPU of the service a message", unit: "ms", of: cpu("two") },
  { name: "one process: CPU of Postgres a message", unit: "ms", of: postgres("one") },
  { name: "two workers: CPU of Postgres a message", unit: "ms", of: postgres("two") },
  {
    name: "two workers to one, Postgres elsewhere (throughput, from CPU time)",
    unit: "×",
    of: bound("one", "two"),
    target: atLeast(1.6),
  },
  { name: `the same with ${few} connections`, unit: "×", of: bound("one, few", "two, few") },
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
