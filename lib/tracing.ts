import {
  type Attributes,
  type Context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";

// Spans are passed on with the objects that belong to a request, without entering a context: on Node 20, AsyncLocalStorage makes every
// promise of the process slower, even for requests that are not sampled.

type Shared = { tracer?: Tracer; isChosen: () => boolean; spans: WeakMap<object, Span> };

// The self-hosted server and Next's bundle in the same process each load this module; they must share the tracer.
const globals = globalThis as { [key: symbol]: Shared | undefined };
const slot = Symbol.for("outlay.tracing");
globals[slot] ??= { isChosen: () => true, spans: new WeakMap() };
const shared = globals[slot];

/**
 * Makes `tracedRequest` and `traced` record spans from now on.
 * @param isChosen whether to pass a request without a trace of the caller to the tracer, whose sampler then decides
 */
export function enableTracing(tracer: Tracer, isChosen: () => boolean): void {
  Object.assign(shared, { tracer, isChosen });
}

/**
 * Makes spans for `to` part of the span of `from`, for example for a key's claims and the request that they belong to. Does nothing if the
 * request is not sampled.
 * @param to an object that belongs to this request only
 */
export function passSpan(from: object, to: object): void {
  if (!shared.tracer) return;
  const span = shared.spans.get(from);
  if (span) shared.spans.set(to, span);
}

/**
 * Calls `run` in a span if it is part of a sampled request, otherwise without one.
 * @param name one of a few constant names, without text that a caller chose
 * @param attributes figures and patterns; never a secret, an address, a path or metadata
 * @param owners objects for which the work is done: those that `passSpan` was called with, or spans. The span is part of the trace of the
 *   first one that has a span, and links to the others. Without any, it is part of the trace of the page that Next is rendering, if any.
 * @param run gets the span, to pass it on as an owner
 */
export function traced<T>(
  name: string,
  attributes: Attributes,
  owners: readonly object[],
  run: (span: readonly object[]) => Promise<T>,
): Promise<T> {
  const { tracer, spans } = shared;
  if (!tracer) return run([]);
  const found = owners.flatMap((owner) => spans.get(owner) ?? []);
  const parent = found[0] ?? trace.getActiveSpan();
  if (!parent?.isRecording()) return run([]);
  const links = found.slice(1).map((span) => ({ context: span.spanContext() }));
  return inSpan(tracer, name, { attributes, links }, trace.setSpan(ROOT_CONTEXT, parent), (span) =>
    run([span]),
  );
}

/**
 * Calls `run` in the span of a request, which continues the trace in the caller's headers (W3C Trace Context). Records nothing if the
 * request is not sampled.
 * @param route the route's pattern
 */
export function tracedRequest(
  request: Pick<Request, "method" | "headers">,
  route: string,
  run: () => Promise<Response>,
): Promise<Response> {
  const { tracer, isChosen, spans } = shared;
  if (!tracer) return run();
  const { method, headers } = request;
  const isContinued = headers.has("traceparent");
  if (!isContinued && !isChosen()) return run();
  const attributes = { "http.request.method": method, "http.route": route };
  const options = { kind: SpanKind.SERVER, attributes };
  return inSpan(
    tracer,
    `${method} ${route}`,
    options,
    isContinued ? contextOf(headers) : ROOT_CONTEXT,
    async (span) => {
      if (!span.isRecording()) return run();
      spans.set(request, span);
      const response = await run();
      span.setAttribute("http.response.status_code", response.status);
      if (response.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      return response;
    },
  );
}

/** The trace context in the caller's headers. */
function contextOf(headers: Headers): Context {
  return propagation.extract(ROOT_CONTEXT, headers, {
    get: (carrier, key) => carrier.get(key) ?? undefined,
    keys: (carrier) => [...carrier.keys()],
  });
}

async function inSpan<T>(
  tracer: Tracer,
  name: string,
  options: SpanOptions,
  parent: Context,
  run: (span: Span) => Promise<T>,
): Promise<T> {
  const span = tracer.startSpan(name, options, parent);
  if (span.isRecording()) shared.spans.set(span, span);
  try {
    return await run(span);
  } catch (error) {
    // Without the message: an error of the database may contain values of the statement.
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}
