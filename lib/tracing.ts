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

// Spans are passed on by the objects that belong to a request, and no context is entered: on Node 20, AsyncLocalStorage makes
// every promise of the process dearer, also those of requests that are not sampled.

type Shared = { tracer?: Tracer; isChosen: () => boolean; spans: WeakMap<object, Span> };

// The self-hosted server and Next's bundle in the same process each load this module; they must share the tracer.
const globals = globalThis as { [key: symbol]: Shared | undefined };
const slot = Symbol.for("outlay.tracing");
globals[slot] ??= { isChosen: () => true, spans: new WeakMap() };
const shared = globals[slot];

/**
 * Makes `tracedRequest` and `traced` record spans from now on.
 * @param isChosen whether a request without a caller's trace is given to the tracer, whose sampler decides about it
 */
export function enableTracing(tracer: Tracer, isChosen: () => boolean): void {
  Object.assign(shared, { tracer, isChosen });
}

/**
 * Makes what is traced for `to` part of what is traced for `from`, for example a key's claims and the request that they are
 * of. Does nothing where the request is not sampled.
 * @param to an object that belongs to this request alone
 */
export function passSpan(from: object, to: object): void {
  if (!shared.tracer) return;
  const span = shared.spans.get(from);
  if (span) shared.spans.set(to, span);
}

/**
 * Calls `run` in a span. Without a sampled request that it is part of, only calls `run`.
 * @param name one of a few constant names, without text that a caller chose
 * @param attributes figures and patterns; never a secret, an address, a path or metadata
 * @param owners what it is done for: objects that `passSpan` was called with, or spans. It is a part of the first one's
 *   trace, and names the others as links. For none of them, it is a part of a page's trace, if Next is rendering one.
 * @param run gets the span as an owner of what it does
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
 * Calls `run` in the span of a request, which continues the trace that the caller's headers name (W3C Trace Context). If it
 * is not sampled, nothing of it is recorded.
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

/** The context that the caller's headers name. */
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
