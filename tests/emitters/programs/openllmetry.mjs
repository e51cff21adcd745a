import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

export async function instrument() {
  const traceloop = require("@traceloop/node-server-sdk");
  traceloop.initialize({
    appName: "shop",
    baseUrl: process.env.OTEL_EXPORTER_OTLP_ENDPOINT,
    apiKey: process.env.OUTLAY_KEY,
    traceloopSyncEnabled: false,
    silenceInitializationMessage: true,
    instrumentModules: { openAI: require("openai"), anthropic: require(process.env.ANTHROPIC_SDK) },
  });
  return { shutdown: () => traceloop.forceFlush() };
}
