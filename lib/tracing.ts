import {
  type Attributes,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";

// The self-hosted server and Next's bundle in the same process each load this module; they must share the tracer.
const globals = globalThis as { [key: symbol]: { tracer?: Tracer } | undefined };
const slot = Symbol.for("outlay.tracing");
globals[slot] ??= {};
const shared = globals[slot];

/** Makes `traced` record spans from now on. Call it after a tracer provider was registered. */
export function enableTracing(): void {
  shared.tracer = trace.getTracer("outlay");
}

/**
 * Calls `run` in a span; with tracing off, only calls `run`.
 * @param name one of a few constant names, without text that a caller chose
 * @param attributes figures and patterns; never a secret, an address, a path or metadata
 */
export function traced<T>(
  name: string,
  attributes: Attributes,
  run: (span?: Span) => Promise<T>,
): Promise<T> {
  return shared.tracer ? inSpan(shared.tracer, name, { attributes }, run) : run();
}

/**
 * Calls `run` in the span of a request, which continues the trace that the caller's headers name (W3C Trace Context).
 * @param route the route's pattern
 */
export function tracedRequest(
  request: Pick<Request, "method" | "headers">,
  route: string,
  run: () => Promise<Response>,
): Promise<Response> {
  const { tracer } = shared;
  if (!tracer) return run();
  const { method, headers } = request;
  const parent = propagation.extract(ROOT_CONTEXT, headers, {
    get: (carrier, key) => carrier.get(key) ?? undefined,
    keys: (carrier) => [...carrier.keys()],
  });
  const attributes = { "http.request.method": method, "http.route": route };
  return context.with(parent, () =>
    inSpan(tracer, `${method} ${route}`, { kind: SpanKind.SERVER, attributes }, async (span) => {
      const response = await run();
      span.setAttribute("http.response.status_code", response.status);
      if (response.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      return response;
    }),
  );
}

function inSpan<T>(
  tracer: Tracer,
  name: string,
  options: { kind?: SpanKind; attributes: Attributes },
  run: (span: Span) => Promise<T>,
): Promise<T> {
  return tracer.startActiveSpan(name, options, async (span) => {
    try {
      return await run(span);
    } catch (error) {
      // Without the message: an error of the database may contain values of the statement.
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
}
