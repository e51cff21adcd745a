import { createRequire } from "node:module";
import { tracerProvider } from "./telemetry.mjs";

const require = createRequire(import.meta.url);

export async function instrument() {
  // It reads a copy of each stream, and nobody can await that copy's failure where the stream breaks off.
  process.on("unhandledRejection", () => {});
  const { OpenAIInstrumentation } = require("@arizeai/openinference-instrumentation-openai");
  const { AnthropicInstrumentation } = require("@arizeai/openinference-instrumentation-anthropic");
  const openai = new OpenAIInstrumentation({ tracerProvider });
  openai.manuallyInstrument(require("openai"));
  const anthropic = new AnthropicInstrumentation({ tracerProvider });
  anthropic.manuallyInstrument(require("@anthropic-ai/sdk"));
  return { shutdown: () => tracerProvider.shutdown() };
}
