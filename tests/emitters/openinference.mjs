import { otlpSettings } from "./stage/settings.mjs";
import { runProgram } from "./stage/tools.mjs";

/** Its span of a streamed chat completion has no counts. */
const untold = (call) => (call.isStream && call.id.startsWith("chatcmpl-") ? [] : [call]);

const trial = (encoding) => ({
  name: `OpenInference JS, ${encoding}`,
  packages: [
    "@arizeai/openinference-instrumentation-openai",
    "@arizeai/openinference-instrumentation-anthropic",
    "openai",
    "@anthropic-ai/sdk",
  ],
  told: untold,
  inexact: "streams of chat completions have no counts",
  run: ({ providers, source, program }) =>
    runProgram([process.execPath, program("openai-calls.mjs")], {
      env: { ...otlpSettings(source, encoding), PROVIDERS: providers, INSTRUMENTATION: "openinference" },
    }),
});

export default [trial("json"), trial("protobuf")];
