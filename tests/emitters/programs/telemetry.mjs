/* OpenTelemetry as an application sets it up, by its environment variables; `ENCODING` is json or protobuf. */
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { defaultResource, detectResources, envDetector } from "@opentelemetry/resources";
import { BatchSpanProcessor, NodeTracerProvider } from "@opentelemetry/sdk-trace-node";

const exporter = process.env.ENCODING === "protobuf" ? new ProtobufExporter() : new JsonExporter();

export const tracerProvider = new NodeTracerProvider({
  resource: defaultResource().merge(detectResources({ detectors: [envDetector] })),
  spanProcessors: [new BatchSpanProcessor(exporter)],
});
tracerProvider.register();
