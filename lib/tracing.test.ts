import { context, propagation, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AlwaysOnSampler,
  InMemorySpanExporter,
  NodeTracerProvider,
  ParentBasedSampler,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { enableTracing, passSpan, traced, tracedRequest } from "./tracing";

const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({
  sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
  spanProcessors: [new SimpleSpanProcessor(exporter)],
});
const contexts = new AsyncLocalStorageContextManager().enable();
provider.register({ contextManager: contexts });
const tracer = provider.getTracer("test");
beforeEach(() => {
  exporter.reset();
  enableTracing(tracer, () => true);
});
afterAll(async () => {
  await provider.shutdown();
  context.disable();
  propagation.disable();
});

const answer = new Response();
const get = (headers: Record<string, string> = {}) => ({ method: "GET", headers: new Headers(headers) });
const named = (name: string) => exporter.getFinishedSpans().filter((span) => span.name === name);

test("Traces a group in the trace of its first request that is sampled, with links to the others", async () => {
  const unsampled = get({ traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00" });
  const requests = [unsampled, get(), get()];
  const callers = requests.map(() => ({}));
  let all = 0;
  let start: (() => void) | undefined;
  const started = new Promise<void>((resolve) => {
    start = resolve;
  });
  const answers = requests.map((request, index) =>
    tracedRequest(request, `/${index}`, async () => {
      passSpan(request, callers[index] as object);
      all += 1;
      if (all === requests.length) start?.();
      await started;
      await group;
      return answer;
    }),
  );
  const group = started.then(() =>
    traced("group", {}, callers, (span) => traced("transaction", {}, span, async () => {})),
  );
  await Promise.all(answers);

  expect(named("GET /0")).toEqual([]);
  const [first, second] = [named("GET /1")[0], named("GET /2")[0]];
  const [made] = named("group");
  expect(made?.parentSpanContext?.spanId).toBe(first?.spanContext().spanId);
  expect(made?.links.map((link) => link.context.spanId)).toEqual([second?.spanContext().spanId]);
  expect(named("transaction")[0]?.parentSpanContext?.spanId).toBe(made?.spanContext().spanId);
});

test("Records nothing that is done for no sampled request", async () => {
  enableTracing(tracer, () => false);
  const request = get();
  await tracedRequest(request, "/", () => traced("group", {}, [request, {}], async () => answer));
  await traced("job", {}, [], async () => {});
  expect(exporter.getFinishedSpans()).toEqual([]);
});

test("Continues a caller's trace where no other request is traced", async () => {
  enableTracing(tracer, () => false);
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  await tracedRequest(get({ traceparent: `00-${traceId}-b7ad6b7169203331-01` }), "/", async () => answer);
  expect(exporter.getFinishedSpans().map((span) => span.spanContext().traceId)).toEqual([traceId]);
});

test("Enters no context with a span, because the first one makes every promise of the process dearer", async () => {
  const entered = vi.spyOn(contexts, "with");
  const request = get();
  await tracedRequest(request, "/", () => traced("group", {}, [request], async () => answer));
  expect(named("group")).toHaveLength(1);
  // The SDK enters a context without a span to export; see `server/tracing.ts`.
  expect(entered.mock.calls.filter(([entering]) => trace.getSpan(entering))).toEqual([]);
});
