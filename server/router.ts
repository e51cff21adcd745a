import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Hono } from "hono";
import { routes } from "@/app/routes.generated";
import { declaration, type Handler, type HttpMethod, refuseMethod } from "@/lib/http/define-route";
import { bySpecificity, convertPath } from "@/lib/http/route-table";
import { metrics } from "@/lib/metrics";
import { tracedRequest } from "@/lib/tracing";

/**
 * Answers requests with the handlers of the route files, without Next. Takes about a tenth of Next's CPU time per request (measured by
 * `npm run bench`).
 */
export type Router = {
  fetch(request: Request, bindings: HttpBindings): Response | Promise<Response>;
  /** Sets the handler of requests for which there is no route. */
  notFound(answer: (bindings: HttpBindings) => Promise<Response>): void;
};

/** Loads the route files. Paths without parameters are looked up in a map; the router matches the other paths. */
export async function createRouter(): Promise<Router> {
  const exact = new Map<string, (request: Request, bindings: HttpBindings) => Promise<Response>>();
  const router = new Hono<{ Bindings: HttpBindings }>();
  for (const { path, load } of [...routes].sort(bySpecificity)) {
    const module = await load();
    const refuse = refuseMethod(allowedBy(module));
    const answer = (request: Request, { incoming }: HttpBindings, params: Record<string, string> = {}) => {
      const { method } = request;
      const handler = module[(method === "HEAD" ? "GET" : method) as HttpMethod] ?? refuse;
      const context = { params: Promise.resolve(params), peer: incoming.socket.remoteAddress };
      return measured(request, path, () => handler(request, context));
    };
    if (!path.includes("[")) exact.set(path, answer);
    router.all(
      convertPath(path, (name) => `:${name}`),
      ({ req, env }) => answer(req.raw, env, req.param()),
    );
  }
  return {
    fetch(request, bindings) {
      const { method, url = "" } = bindings.incoming;
      // The router answers HEAD without the body.
      const answer = method === "HEAD" ? undefined : exact.get(url.split("?", 1)[0] ?? "");
      if (answer) return answer(request, bindings);
      const answered = router.fetch(request, bindings);
      return method === "HEAD" ? unlessSent(answered, bindings) : answered;
    },
    notFound: (answer) => router.notFound(({ env }) => answer(env)),
  };
}

/**
 * The answer to HEAD. The router copies an answer to drop its body, so that the adapter would send the copy even if the pages have sent
 * the answer already.
 */
async function unlessSent(
  answered: Response | Promise<Response>,
  { outgoing }: HttpBindings,
): Promise<Response> {
  const response = await answered;
  return outgoing.headersSent ? RESPONSE_ALREADY_SENT : response;
}

/** Answers a request, measures its time and, if tracing is on, records a span. @param route the route's pattern */
async function measured(request: Request, route: string, answer: () => Promise<Response>): Promise<Response> {
  const sinceMs = performance.now();
  const response = await tracedRequest(request, route, answer);
  const labels = { method: request.method, route, status: response.status };
  metrics.requests.observe(labels, (performance.now() - sinceMs) / 1000);
  return response;
}

/**
 * The methods of a route for the header `Allow`. A route file also exports handlers that refuse the other methods, so
 * handlers with a declaration are preferred.
 */
function allowedBy(module: Partial<Record<HttpMethod, Handler>>): string {
  const names = Object.keys(module) as HttpMethod[];
  const declared = names.filter((name) => module[name] && declaration in module[name]);
  return (declared.length > 0 ? declared : names).sort().join(", ");
}
