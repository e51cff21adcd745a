import { otlpSettings } from "./stage/settings.mjs";
import { runProgram } from "./stage/tools.mjs";

const suffixed = (version) => (name) => (version === 7 ? name : `${name}-${version}`);

/** Version 5 does not say what `generateText` of OpenAI read from the cache: it counts as input. */
const withoutCache = ({ cacheRead = 0, ...call }) =>
  call.provider === "openai" && !call.isStream
    ? [{ ...call, input: call.input + cacheRead }]
    : [{ ...call, cacheRead }];

const trial = (version, encoding, name = "", more = {}) => ({
  name: `AI SDK ${version}${name}, ${encoding}`,
  packages: [
    ...["ai", "@ai-sdk/openai", "@ai-sdk/anthropic", "@ai-sdk/google"].map(suffixed(version)),
    ...(version === 7 ? ["@ai-sdk/otel"] : []),
    "@opentelemetry/exporter-trace-otlp-http",
  ],
  ...(version === 5 && {
    told: withoutCache,
    inexact: "`generateText` does not report what OpenAI read from the cache",
  }),
  ...(version === 7 && { inexact: "writes to Claude's cache for an hour are not reported" }),
  run: ({ providers, source, program }) =>
    runProgram([process.execPath, program("ai-sdk.mjs")], {
      env: {
        PROVIDERS: providers,
        VERSION: String(version),
        ...otlpSettings(source, encoding),
        ...more,
      },
    }),
});

export default [
  trial(5, "json"),
  trial(6, "protobuf"),
  trial(7, "json"),
  trial(7, "protobuf", " with its legacy telemetry", { LEGACY: "1" }),
];
