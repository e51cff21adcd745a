import { otlpSettings } from "./stage/settings.mjs";
import { pythonBin, runProgram } from "./stage/tools.mjs";

/**
 * A trial of a program of Python, which tells by OpenTelemetry.
 * @param venv the environment that it runs in, a file of `requirements`
 * @param program a file of `programs`
 * @param packages those whose versions are named
 * @param launcher what runs it, python by default
 * @param env variables besides OpenTelemetry's, or a function that makes them of the source
 */
export const pythonTrial = ({
  venv = "sdks",
  launcher = ["python"],
  program: file,
  packages,
  env = {},
  encoding = "protobuf",
  ...trial
}) => ({
  ...trial,
  packages: packages.map((each) => `python:${venv}/${each}`),
  run: ({ providers, source, program }) =>
    runProgram([...launcher.map((name) => pythonBin(venv, name)), program(file)], {
      env: {
        ...otlpSettings(source, encoding),
        PROVIDERS: providers,
        ...(typeof env === "function" ? env({ source, providers }) : env),
      },
    }),
});

/** Libraries under which `programs/openai_calls.py` calls OpenAI and Anthropic. */
const trial = ({ instrumentation, env = () => ({}), ...rest }) =>
  pythonTrial({
    program: "openai_calls.py",
    ...rest,
    env: (settings) => ({ INSTRUMENTATION: instrumentation, ...env(settings) }),
  });

/** It knows no Responses, and does not say what OpenAI read from the cache. */
const inexact = "the Responses, and what was read from the cache, are not reported";
const chatAlone = ({ cacheRead = 0, ...call }) =>
  call.id.startsWith("resp_") ? [] : [{ ...call, input: call.input + cacheRead }];

export default [
  pythonTrial({
    name: "Python, as the page Sources says",
    venv: "distro",
    launcher: ["opentelemetry-instrument", "python"],
    program: "openai_calls.py",
    packages: ["opentelemetry-distro", "opentelemetry-instrumentation-openai", "openai", "anthropic"],
    env: ({ source }) => ({
      OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer%20${source.key}`,
      OTEL_METRICS_EXPORTER: "none",
      TRACELOOP_TRACE_CONTENT: "false",
    }),
  }),
  trial({
    name: "OpenTelemetry Python, OpenAI, spans and metrics",
    instrumentation: "opentelemetry-openai-v2",
    packages: ["opentelemetry-instrumentation-openai-v2", "opentelemetry-sdk", "openai"],
    told: chatAlone,
    inexact,
    env: () => ({ WITHOUT_ANTHROPIC: "1" }),
  }),
  trial({
    name: "OpenTelemetry Python, OpenAI, latest conventions",
    instrumentation: "opentelemetry-openai-v2",
    packages: ["opentelemetry-instrumentation-openai-v2", "opentelemetry-sdk", "openai"],
    told: chatAlone,
    inexact,
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
    env: ({ source }) => ({
      LANGFUSE_BASE_URL: source.url,
      LANGFUSE_HOST: source.url,
      LANGFUSE_PUBLIC_KEY: "any",
      LANGFUSE_SECRET_KEY: source.key,
      WITHOUT_ANTHROPIC: "1",
    }),
  }),
];
