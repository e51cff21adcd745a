import { otlpSettings } from "./stage/settings.mjs";
import { pythonBin, runProgram } from "./stage/tools.mjs";

/** Libraries of Python under which `programs/openai_calls.py` calls OpenAI and Anthropic. */
const trial = ({ name, instrumentation, packages, told, env = () => ({}) }) => ({
  name,
  packages: packages.map((each) => `python:${each}`),
  ...(told && { told }),
  run: ({ providers, source, program }) =>
    runProgram([pythonBin("python"), program("openai_calls.py")], {
      env: {
        ...otlpSettings(source, "protobuf"),
        PROVIDERS: providers,
        INSTRUMENTATION: instrumentation,
        ...env(source),
      },
    }),
});

/** It knows no Responses, and does not say what OpenAI read from the cache. */
const chatAlone = ({ cacheRead = 0, ...call }) =>
  call.id.startsWith("resp_") ? [] : [{ ...call, input: call.input + cacheRead }];

export default [
  trial({
    name: "OpenTelemetry Python, OpenAI, spans and metrics",
    instrumentation: "opentelemetry-openai-v2",
    packages: ["opentelemetry-instrumentation-openai-v2", "opentelemetry-sdk", "openai"],
    told: chatAlone,
    env: () => ({ WITHOUT_ANTHROPIC: "1" }),
  }),
  trial({
    name: "OpenTelemetry Python, OpenAI, latest conventions",
    instrumentation: "opentelemetry-openai-v2",
    packages: ["opentelemetry-instrumentation-openai-v2", "opentelemetry-sdk", "openai"],
    told: chatAlone,
    env: () => ({ WITHOUT_ANTHROPIC: "1", OTEL_SEMCONV_STABILITY_OPT_IN: "gen_ai_latest_experimental" }),
  }),
  trial({
    name: "OpenLLMetry Python",
    instrumentation: "opentelemetry",
    packages: [
      "opentelemetry-instrumentation-openai",
      "opentelemetry-instrumentation-anthropic",
      "openai",
      "anthropic",
    ],
  }),
  trial({
    name: "OpenInference Python",
    instrumentation: "openinference",
    packages: [
      "openinference-instrumentation-openai",
      "openinference-instrumentation-anthropic",
      "openai",
      "anthropic",
    ],
  }),
  trial({
    name: "Langfuse Python, OpenAI",
    instrumentation: "langfuse",
    packages: ["langfuse", "openai"],
    env: (source) => ({
      LANGFUSE_BASE_URL: source.url,
      LANGFUSE_HOST: source.url,
      LANGFUSE_PUBLIC_KEY: "any",
      LANGFUSE_SECRET_KEY: source.key,
      WITHOUT_ANTHROPIC: "1",
    }),
  }),
];
