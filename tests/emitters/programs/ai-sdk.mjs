/* Calls of the AI SDK, version `VERSION`: whole and streamed, and an embedding. */
import { tracerProvider } from "./telemetry.mjs";

const version = Number(process.env.VERSION);
const mock = process.env.PROVIDERS;
const suffix = version === 7 ? "" : `-${version}`;
const load = (name) => import(`${name}${suffix}`);
const [
  { generateText, streamText, embed, ...ai },
  { createOpenAI },
  { createAnthropic },
  { createGoogleGenerativeAI },
] = await Promise.all([
  load("ai"),
  load("@ai-sdk/openai"),
  load("@ai-sdk/anthropic"),
  load("@ai-sdk/google"),
]);

const telemetry = { isEnabled: true, functionId: "greeting", metadata: { userId: "ada" } };
let told = { experimental_telemetry: telemetry };
if (version === 7) {
  const { OpenTelemetry, LegacyOpenTelemetry } = await import("@ai-sdk/otel");
  const Integration = process.env.LEGACY ? LegacyOpenTelemetry : OpenTelemetry;
  ai.registerTelemetry(new Integration({ tracer: tracerProvider.getTracer("ai") }));
  told = { telemetry: { functionId: "greeting" } };
}

const openai = createOpenAI({ apiKey: "none", baseURL: `${mock}/v1` });
const anthropic = createAnthropic({ apiKey: "none", baseURL: `${mock}/v1` });
const google = createGoogleGenerativeAI({ apiKey: "none", baseURL: `${mock}/v1beta` });
const prompt = "Say hello.";

const drain = async (result) => {
  for await (const _ of result.textStream);
};

for (const model of [
  openai.chat("gpt-4o-mini"),
  openai.responses("gpt-4o-mini"),
  anthropic("claude-sonnet-4-5"),
  google("gemini-2.5-flash"),
]) {
  await generateText({ model, prompt, ...told });
  await drain(streamText({ model, prompt, ...told }));
}
const value = "hello";
await embed({ model: openai.embedding("text-embedding-3-small"), value, ...told });
await tracerProvider.shutdown();
