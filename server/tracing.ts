import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace-node";
import type { Env } from "@/lib/env";
import { enableTracing } from "@/lib/tracing";
import packageJson from "@/package.json";

/** The share of traces that is recorded if neither OTEL_TRACES_SAMPLER nor the caller decides. */
const sampledPart = 0.1;

/**
 * Sends traces to OTEL_EXPORTER_OTLP_ENDPOINT over HTTP with protobuf. The SDK reads its other settings itself:
 * OTEL_EXPORTER_OTLP_HEADERS, OTEL_TRACES_SAMPLER, OTEL_RESOURCE_ATTRIBUTES.
 * @returns a function that sends the remaining spans and stops
 */
export function startTracing({ OTEL_TRACES_SAMPLER }: Env): () => Promise<void> {
  const own = resourceFromAttributes({ "service.name": "outlay", "service.version": packageJson.version });
  const provider = new NodeTracerProvider({
    resource: defaultResource()
      .merge(own)
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
    ...(OTEL_TRACES_SAMPLER === undefined && {
      sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampledPart) }),
    }),
  });
  provider.register();
  enableTracing();
  return () => provider.shutdown();
}
