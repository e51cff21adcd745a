import { existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import claudeCode from "./claude-code.mjs";
import python from "./python.mjs";
import { listenOnLoopback } from "./stage/loopback.mjs";
import { relayTo } from "./stage/relay.mjs";
import { collector, collectorVersion, startProgram } from "./stage/tools.mjs";

/**
 * A trial of another emitter that tells an OpenTelemetry Collector, which batches what comes and sends it on over a connection that
 * fails: it sends again what was answered with 503, and what was recorded without its hearing so.
 */
const through = (trial) => ({
  ...trial,
  name: `OpenTelemetry Collector ${collectorVersion}, ${trial.name}`,
  skip: () => (existsSync(collector) ? undefined : `needs ${collector}: add --install`),
  run: async (stage) => {
    const { source, settle, close } = await relayTo(stage.source, { isFlaky: true });
    const listened = await listenOnLoopback(createServer());
    await listened.close();
    const config = join(stage.folder, "collector.yaml");
    writeFileSync(config, JSON.stringify(settings(new URL(listened.url).host, source)));
    const started = startProgram([collector, "--config", config]);
    try {
      for (const endsAt = Date.now() + 60_000; !started.output().includes("Everything is ready"); )
        if (Date.now() > endsAt || started.process.exitCode !== null) throw new Error(started.output());
        else await wait(100);
      const output = await trial.run({ ...stage, source: { ...source, otlp: listened.url } });
      // What it is to send again when it ends, it drops.
      await settle(3 * batchMs);
      started.process.kill("SIGTERM");
      await started.ended;
      return `${output}\n${started.output()}`;
    } finally {
      started.process.kill("SIGKILL");
      await close();
    }
  },
});

const batchMs = 500;

/** The Collector's configuration; JSON is YAML. */
const settings = (endpoint, source) => {
  const pipeline = { receivers: ["otlp"], processors: ["batch"], exporters: ["otlp_http"] };
  return {
    receivers: { otlp: { protocols: { http: { endpoint } } } },
    processors: { batch: { timeout: `${batchMs}ms`, send_batch_size: 3, send_batch_max_size: 3 } },
    exporters: {
      otlp_http: {
        endpoint: source.otlp,
        headers: { Authorization: `Bearer ${source.key}` },
        retry_on_failure: { initial_interval: "100ms", max_interval: "1s" },
      },
    },
    service: {
      telemetry: { metrics: { level: "none" } },
      pipelines: { traces: pipeline, metrics: pipeline, logs: pipeline },
    },
  };
};

const named = (trials, name) => trials.find((trial) => trial.name === name);

export default [
  through(named(python, "OpenLLMetry Python")),
  through(named(python, "OpenInference Python")),
  through(named(claudeCode, "Claude Code, metrics alone, as totals")),
];
