import { usage } from "./ingest";
import type { Part } from "./part";
import { atMost, type Figure, type Round } from "./report";
import type { Stage } from "./stage";

/** The number of keys of a team in which every program has its own. */
const keyCount = 10_000;

type Name = "capacity" | "hot" | "keys";

/**
 * Measures the latency of recording a message while messages arrive at half the service's capacity: through one limited
 * key, and through ten thousand keys. The capacity is measured in the same round.
 */
export async function latencyPart({ fast, keys, addKeys }: Stage, requests: number): Promise<Part<Name>> {
  const secrets = await addKeys(keyCount);
  const one = (list: string[], index: number) => list[index % list.length] ?? "";
  const half = (round: Partial<Round<string>>) => ({ perSecond: (round.capacity?.perSecond ?? 0) / 2 });
  return {
    figures,
    contenders: [
      {
        name: "capacity",
        server: fast,
        count: requests,
        call: (index) => usage(one(keys.many, index), index),
      },
      { name: "hot", server: fast, count: requests, call: (index) => usage(keys.hot, index), paceOf: half },
      {
        name: "keys",
        server: fast,
        count: requests,
        call: (index) => usage(one(secrets, index), index),
        paceOf: half,
      },
    ],
  };
}

const shown: [Exclude<Name, "capacity">, string][] = [
  ["hot", "one limited key"],
  ["keys", "10,000 keys"],
];

const figures: Figure<Name>[] = [
  { name: "capacity, 200 keys", unit: "/s", of: (round) => round.capacity.perSecond },
  ...shown.flatMap(([name, label]): Figure<Name>[] => [
    { name: `${label}: p50`, unit: "ms", of: (round) => round[name].p50Ms },
    { name: `${label}: p99`, unit: "ms", of: (round) => round[name].p99Ms },
    { name: `${label}: p99.9`, unit: "ms", of: (round) => round[name].p999Ms },
    {
      name: `${label}: p99 to p50`,
      unit: "×",
      of: (round) => round[name].p99Ms / round[name].p50Ms,
      target: atMost(5),
    },
  ]),
];
