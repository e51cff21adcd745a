import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { workerNumber } from "./env";
import { answerWorkers, askWorkers } from "./workers";

/** One value of a gauge, with its labels. */
export type MetricReading = { labels: Record<string, string>; value: number };

function createMetrics() {
  const registry = new Registry();
  const worker = workerNumber();
  if (worker !== undefined) registry.setDefaultLabels({ worker: String(worker) });
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const readings = new Map<string, () => MetricReading[]>();
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const { labels, value } of readings.get(name)?.() ?? []) this.set(labels, value);
      },
    });
  gauge("outlay_ingest_queued_messages", "Messages that wait to be recorded.");
  gauge("outlay_ingest_queue_age_seconds", "How long the oldest of them has waited.");
  gauge("outlay_database_connections", "Connections to the database.", ["purpose", "state"]);
  gauge(
    "outlay_alert_oldest_pending_seconds",
    "How long the oldest alert that is to be delivered has waited.",
  );
  gauge("outlay_job_seconds_since_success", "Time since a job last succeeded in this process.", ["job"]);
  return {
    registry,
    readings,
    requests: new Histogram({
      name: "outlay_http_request_duration_seconds",
      help: "Time until the head of an answer was ready, by the route's pattern.",
      labelNames: ["method", "route", "status"],
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    }),
    refusals: new Counter({
      name: "outlay_refusals_total",
      help: "Answers with an error, by its code.",
      labelNames: ["code"],
      registers,
    }),
    messages: new Counter({
      name: "outlay_messages_recorded_total",
      help: "Messages recorded.",
      registers,
    }),
    groupCalls: new Histogram({
      name: "outlay_ingest_group_calls",
      help: "Calls that were decided and recorded in one transaction.",
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
      registers,
    }),
    groupRetries: new Counter({
      name: "outlay_ingest_group_retries_total",
      help: "Groups of messages that were written again because of a conflict with another transaction.",
      registers,
    }),
    databaseCalls: new Histogram({
      name: "outlay_database_call_duration_seconds",
      help: "Time of a transaction, waiting for a connection included.",
      labelNames: ["purpose"],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    }),
    readsWithoutReplica: new Counter({
      name: "outlay_reads_without_replica_total",
      help: "Reads that the primary answered because the replica was behind or failing.",
      labelNames: ["reason"],
      registers,
    }),
    alertDeliveries: new Counter({
      name: "outlay_alert_deliveries_total",
      help: "Attempts to deliver something, by the kind of channel or of mail and how they ended; dead: given up.",
      labelNames: ["kind", "outcome"],
      registers,
    }),
    jobRuns: new Counter({
      name: "outlay_job_runs_total",
      help: "Runs of a job, by how they ended.",
      labelNames: ["job", "outcome"],
      registers,
    }),
  };
}

// The self-hosted server and Next's bundle in the same process each load this module; they must share the metrics.
const globals = globalThis as { [key: symbol]: ReturnType<typeof createMetrics> | undefined };
const slot = Symbol.for("outlay.metrics");
globals[slot] ??= createMetrics();

/** The metrics of this process for Prometheus. Labels are route patterns and codes, never text that a caller chose. */
export const metrics = globals[slot];

answerWorkers("metrics", () => metrics.registry.getMetricsAsJSON());

/**
 * The metrics of all workers of this service in Prometheus's text format. If there are several workers, each sample has the worker's
 * number as the label `worker`: a sum over workers would fall when one ends, which Prometheus would take for a restart of all. A worker
 * that does not answer within a second is left out.
 */
export async function renderMetrics(): Promise<{ text: string; contentType: string }> {
  const { registry } = metrics;
  const { contentType } = registry;
  const ofWorkers = (await askWorkers("metrics")) as WorkerMetrics[];
  if (ofWorkers.length === 0) return { text: await registry.metrics(), contentType };
  const all = [await registry.getMetricsAsJSON(), ...ofWorkers];
  // The label distinguishes the samples, so that `sum` adds nothing up. Other aggregators would drop or average some of them.
  const summed = all.map((each) => each.map((metric) => ({ ...metric, aggregator: "sum" })));
  return { text: await AggregatorRegistry.aggregate(summed).metrics(), contentType };
}

type WorkerMetrics = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>;

/** Sets the source of a gauge. @param read called at each scrape; returns the gauge's present values */
export function readGauge(name: string, read: () => MetricReading[]): void {
  metrics.readings.set(name, read);
}
