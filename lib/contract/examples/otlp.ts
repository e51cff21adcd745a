import type { ExampleSet } from "./example-set";

const resource = {
  attributes: [
    { key: "service.name", value: { stringValue: "shop" } },
    { key: "project", value: { stringValue: "checkout" } },
  ],
};
const time = "1795303258711000000";
const count = (key: string, tokens: number) => ({ key, value: { intValue: String(tokens) } });

const span = {
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: "b7ad6b7169203331",
  name: "chat gpt-4o",
  startTimeUnixNano: "1795303258111000000",
  endTimeUnixNano: time,
  attributes: [
    { key: "gen_ai.operation.name", value: { stringValue: "chat" } },
    { key: "gen_ai.provider.name", value: { stringValue: "openai" } },
    { key: "gen_ai.response.model", value: { stringValue: "gpt-4o" } },
    count("gen_ai.usage.input_tokens", 1200),
    count("gen_ai.usage.cache_read.input_tokens", 1000),
    count("gen_ai.usage.output_tokens", 34),
  ],
};

const event = {
  timeUnixNano: time,
  attributes: [
    { key: "event.name", value: { stringValue: "api_request" } },
    { key: "session.id", value: { stringValue: "b87daa3e-1bbb-4c75-9506-960f4f7487dc" } },
    { key: "event.sequence", value: { intValue: "1" } },
    { key: "event.timestamp", value: { stringValue: "2026-11-21T23:20:58.711Z" } },
    { key: "model", value: { stringValue: "claude-opus-4-8" } },
    count("input_tokens", 200),
    count("output_tokens", 34),
  ],
};

const metric = {
  name: "claude_code.token.usage",
  unit: "tokens",
  sum: {
    aggregationTemporality: 1,
    isMonotonic: true,
    dataPoints: [
      {
        startTimeUnixNano: "1795303198711000000",
        timeUnixNano: time,
        asInt: "200",
        attributes: [{ key: "type", value: { stringValue: "input" } }],
      },
    ],
  },
};

export const otlpExamples: ExampleSet = {
  requests: {
    ExportTracesRequest: {
      span: {
        summary: "A call of a model by the GenAI conventions",
        value: { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: "shop" }, spans: [span] }] }] },
      },
    },
    ExportLogsRequest: {
      event: {
        summary: "A request of Claude Code",
        value: {
          resourceLogs: [
            {
              resource,
              scopeLogs: [{ scope: { name: "com.anthropic.claude_code.events" }, logRecords: [event] }],
            },
          ],
        },
      },
    },
    ExportMetricsRequest: {
      sum: {
        summary: "Tokens that Claude Code used in a minute",
        value: {
          resourceMetrics: [
            { resource, scopeMetrics: [{ scope: { name: "com.anthropic.claude_code" }, metrics: [metric] }] },
          ],
        },
      },
    },
  },
  responses: {
    ExportTracesResponse: {
      partialSuccess: {
        rejectedSpans: "1",
        errorMessage:
          "1 refused: feature_not_allowed: This API key may not record usage of the feature chat.",
      },
    },
    ExportLogsResponse: {},
    ExportMetricsResponse: {},
  },
};
