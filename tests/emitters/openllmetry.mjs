import { otlpSettings } from "./stage/settings.mjs";
import { runProgram } from "./stage/tools.mjs";

/** It cannot wrap version 1 of Anthropic's SDK. */
const anthropicSdk = "@anthropic-ai/sdk-0";

/**
 * It does not say what OpenAI read from the cache, and of a stream of the Responses nothing. For a stream of chat completions
 * it counts by itself, with a tokenizer: the prompt and answer of the mock are 3 and 2 tokens.
 */
const told = ({ cacheRead = 0, ...call }) => {
  if (call.provider !== "openai") return [{ ...call, cacheRead }];
  if (call.isStream) return call.id.startsWith("chatcmpl-") ? [{ ...call, input: 3, output: 2 }] : [];
  return [{ ...call, input: call.input + cacheRead }];
};

const openLlmetry = {
  name: "OpenLLMetry JS",
  packages: ["@traceloop/node-server-sdk", "openai", anthropicSdk],
  told,
  inexact:
    "OpenAI's cached tokens and streams of the Responses are not reported, and streams of chat completions are counted by a tokenizer",
  run: ({ providers, source, program }) =>
    runProgram([process.execPath, program("openai-calls.mjs")], {
      env: {
        ...otlpSettings(source, "protobuf"),
        OUTLAY_KEY: source.key,
        TRACELOOP_TELEMETRY: "false",
        PROVIDERS: providers,
        INSTRUMENTATION: "openllmetry",
        ANTHROPIC_SDK: anthropicSdk,
      },
    }),
};

export default [openLlmetry];
