import { observeOpenAI } from "@langfuse/openai";
import { LangfuseSpanProcessor } from "@langfuse/otel";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";

export async function instrument() {
  const tracerProvider = new NodeTracerProvider({ spanProcessors: [new LangfuseSpanProcessor()] });
  tracerProvider.register();
  return { shutdown: () => tracerProvider.shutdown(), wrap: observeOpenAI };
}
