import { npmBin, runProgram } from "./stage/tools.mjs";

/** The settings with which Claude Code calls the mock, tells the service, and reaches nothing else. */
export function claudeCodeSettings({ providers, source, folder, protocol, ...more }) {
  return {
    HOME: folder,
    ANTHROPIC_API_KEY: "sk-ant-mock",
    ANTHROPIC_BASE_URL: providers,
    ANTHROPIC_MODEL: "claude-sonnet-4-5",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_ENABLE_TELEMETRY: "1",
    OTEL_LOGS_EXPORTER: "otlp",
    OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
    OTEL_EXPORTER_OTLP_ENDPOINT: source.otlp,
    OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer ${source.key}`,
    OTEL_LOGS_EXPORT_INTERVAL: "1000",
    ...more,
  };
}

export const claudePackage = "@anthropic-ai/claude-code";
const native = `@anthropic-ai/claude-code-${process.platform}-${process.arch}`;
export const claudeCommand = npmBin(`${native}/claude`);
export const claudePackages = [claudePackage, native];

/** Claude Code in print mode, which makes the calls of a session and ends. */
const trial = (name, protocol, more = {}) => ({
  name: `Claude Code, ${name}`,
  packages: claudePackages,
  run: ({ providers, source, folder }) =>
    runProgram([claudeCommand, "-p", "Say hello."], {
      cwd: folder,
      env: claudeCodeSettings({ providers, source, folder, protocol, ...more }),
    }),
});

const metrics = { OTEL_METRICS_EXPORTER: "otlp", OTEL_METRIC_EXPORT_INTERVAL: "1000" };

/** A metric is a sum for each kind of token: of the one call here, a message for each that is there. */
const inSums = ({ provider, model, ...call }) =>
  ["input", "cacheRead", "cacheWrite", "output"].flatMap((kind) =>
    call[kind] > 0 ? [{ provider, model, [kind]: call[kind] }] : [],
  );

const metricsAlone = (name, more = {}) => ({
  ...trial(name, "http/json", { ...metrics, OTEL_LOGS_EXPORTER: "none", ...more }),
  told: inSums,
  inexact: "its metrics do not say what Claude's cache keeps for an hour; its events do",
});

export default [
  trial("logs in JSON", "http/json"),
  trial("logs and metrics in protobuf", "http/protobuf", metrics),
  metricsAlone("metrics alone"),
  metricsAlone("metrics alone, as totals", {
    OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: "cumulative",
  }),
  trial("logs and traces", "http/json", {
    OTEL_TRACES_EXPORTER: "otlp",
    CLAUDE_CODE_ENHANCED_TELEMETRY_BETA: "1",
  }),
];
