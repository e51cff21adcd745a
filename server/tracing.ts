import { type Context, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  NodeTracerProvider,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
} from "@opentelemetry/sdk-trace-node";
import type { Env } from "@/lib/env";
import { enableTracing } from "@/lib/tracing";
import packageJson from "@/package.json";

/**
 * Limits how many requests are traced per second. This bounds the cost of tracing in a busy service, and a service with few requests
 * traces all of them.
 * @param perSecond the limit; after a second without requests, as many can be traced at once
 * @param now milliseconds of a monotonic clock
 * @returns a function that decides about one request each time it is called
 */
export function traceRate(perSecond: number, now: () => number = () => performance.now()): () => boolean {
  let left = perSecond;
  let at = now();
  return () => {
    const time = now();
    left = Math.min(perSecond, left + ((time - at) / 1000) * perSecond);
    at = time;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}

/** How many traces per second are recorded if neither OTEL_TRACES_SAMPLER nor the caller decides. */
const tracesPerSecond = 10;

/**
 * Sends traces to OTEL_EXPORTER_OTLP_ENDPOINT over HTTP with protobuf. The SDK reads its other settings itself:
 * OTEL_EXPORTER_OTLP_HEADERS, OTEL_TRACES_SAMPLER, OTEL_RESOURCE_ATTRIBUTES.
 * @returns a function that sends the remaining spans and stops
 */
export function startTracing({ OTEL_TRACES_SAMPLER }: Env): () => Promise<void> {
  const own = resourceFromAttributes({ "service.name": "outlay", "service.version": packageJson.version });
  const configuration = {
    resource: defaultResource()
      .merge(own)
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  };
  const isSampledHere = OTEL_TRACES_SAMPLER === undefined;
  const isChosen = traceRate(tracesPerSecond);
  const provider = new NodeTracerProvider({
    ...configuration,
    ...(isSampledHere && {
      sampler: new ParentBasedSampler({ root: samplerOf(isChosen) }),
    }),
  });
  provider.register({ contextManager: new SpanContexts().enable() });
  if (isSampledHere) {
    // Requests are chosen before they have a span, which costs less than a span that is not recorded.
    const chosen = { ...configuration, sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }) };
    enableTracing(new NodeTracerProvider(chosen).getTracer("outlay"), isChosen);
  } else {
    enableTracing(provider.getTracer("outlay"), () => true);
  }
  return () => provider.shutdown();
}

/** The same decision as a sampler, for the spans that Next starts. */
function samplerOf(isChosen: () => boolean): Sampler {
  return {
    shouldSample: () => ({
      decision: isChosen() ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD,
    }),
    toString: () => "TraceRate",
  };
}

/**
 * Enters only contexts with a span, which are those of Next's traces of pages. The service's own spans do not enter contexts
 * (`lib/tracing.ts`); the SDK would enter one without a span for each export. On Node 20, the first context that is entered makes every
 * promise of the process slower.
 */
class SpanContexts extends AsyncLocalStorageContextManager {
  override with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    context: Context,
    fn: F,
    thisArg?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    if (trace.getSpan(context) || this.active() !== ROOT_CONTEXT)
      return super.with(context, fn, thisArg, ...args);
    return fn.call(thisArg as ThisParameterType<F>, ...args);
  }
}
