import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { usage } from "./ingest";
import type { Part } from "./part";
import { atMost, type Figure, type Round } from "./report";
import type { Stage } from "./stage";

type Name = "without metrics" | "as shipped" | "with traces";

/**
 * Measures the cost of metrics and traces. Compares the service as shipped (metrics, no traces) with a bundle without metrics, and with
 * one that sends traces, sampled as by default, to a collector in this process.
 */
export async function observabilityPart(stage: Stage, requests: number): Promise<Part<Name>> {
  const { serve, keys } = stage;
  const call = (index: number) => usage(keys.many[index % keys.many.length] ?? "", index);
  const servers = {
    "without metrics": await serve({}, "dist/server-without-metrics.mjs"),
    "as shipped": await serve({}),
    "with traces": await serve({ OTEL_EXPORTER_OTLP_ENDPOINT: await startCollector(stage) }),
  };
  const names = Object.keys(servers) as Name[];
  // Differences of a few percent show only if each process has compiled its code, and a round is long compared with the background
  // work of Postgres.
  const count = 2 * requests;
  return {
    figures,
    contenders: names.map((name) => ({ name, server: servers[name], count, warmUp: count, call })),
  };
}

/** Starts a collector that accepts traces and discards them. @returns its address */
async function startCollector({ closeAtEnd }: Stage): Promise<string> {
  const collector = createServer((request, response) => {
    request.resume().once("end", () => {
      response.writeHead(200, { "Content-Type": "application/x-protobuf" }).end();
    });
  }).listen(0, "127.0.0.1");
  await once(collector, "listening");
  closeAtEnd(() => collector.unref());
  return `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
}

/** The CPU time of a request in the service and in Postgres together, in ms. */
const both = (name: Name) => (round: Round<Name>) => round[name].cpuMs + round[name].postgresCpuMs;

/** How much more one contender takes than another, %. */
const extra =
  (of: (round: Round<Name>) => number, to: (round: Round<Name>) => number) => (round: Round<Name>) =>
    100 * (of(round) / to(round) - 1);

const target = atMost(3);
const cpu = (name: Name) => (round: Round<Name>) => round[name].cpuMs;

const figures: Figure<Name>[] = [
  { name: "message without metrics: CPU of the service", unit: "ms", of: cpu("without metrics") },
  { name: "message as shipped: CPU of the service", unit: "ms", of: cpu("as shipped") },
  { name: "message with traces: CPU of the service", unit: "ms", of: cpu("with traces") },
  {
    name: "metrics: more CPU of service + Postgres",
    unit: "%",
    of: extra(both("as shipped"), both("without metrics")),
    target,
  },
  {
    name: "traces, ten a second: more CPU of service + Postgres",
    unit: "%",
    of: extra(both("with traces"), both("as shipped")),
    target,
  },
];
