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
 * Chooses which requests to trace: at most so many a second. Traces of a busy service have a bounded cost, and a service with
 * few requests traces all of them.
 * @param perSecond how many a second; up to as many are chosen at once after a second without one
 * @param now milliseconds of a clock that never goes back
 * @returns whether to trace the present request; each call is for another one
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

/** How many traces a second are recorded if neither OTEL_TRACES_SAMPLER nor the caller decides. */
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

/** The same choice as a sampler, for the spans that Next begins. */
function samplerOf(isChosen: () => boolean): Sampler {
  return {
    shouldSample: () => ({
      decision: isChosen() ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD,
    }),
    toString: () => "TraceRate",
  };
}

/**
 * Enters only contexts with a span: those of Next, which traces pages. The service's own spans enter none (`lib/tracing.ts`), and
 * the SDK enters one without a span for each export. On Node 20, the first context that is entered makes every promise of the
 * process dearer.
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
