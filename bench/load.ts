import { setTimeout as wait } from "node:timers/promises";
import { Pool } from "undici";

/** One request of a load. */
export type Call = {
  method: "GET" | "POST";
  path: string;
  /** An API key or access token. Pages need a cookie in `headers` instead. */
  secret?: string;
  /** JSON, unless `headers` name another type. */
  body?: string | Uint8Array;
  headers?: Record<string, string>;
};

/** The result of a load: requests per second; the median, 99th and 99.9th percentile of the latency in ms; refusals. */
export type LoadResult = {
  requests: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  p999Ms: number;
  refused: number;
};

/** How fast a load sends its requests. */
export type Pace = {
  /** The number of connections; by default 64. */
  clients?: number;
  /** How long each connection waits after a response. */
  pauseMs?: number;
  /** Whether refusals (5xx) count as responses. */
  refusals?: boolean;
  /**
   * Requests to send per second, independent of responses. A request's latency is then measured from the time at which it
   * was due, so that a stall of the service shows in every request that it delays.
   */
  perSecond?: number;
};

/** Keep-alive connections, each with one request at a time. */
export const connections = 64;

/**
 * Sends `count` requests over a fixed number of connections, each as soon as its connection is free.
 * @throws Error at the first response that is not a success, unless refusals count: a refusal costs less and would look
 *   like a fast response
 */
export async function runLoad(
  baseUrl: string,
  count: number,
  next: (index: number) => Call,
  { clients = connections, pauseMs = 0, refusals = false, perSecond }: Pace = {},
): Promise<LoadResult> {
  const pool = new Pool(baseUrl, { connections: clients, pipelining: 1 });
  const calls = Array.from({ length: count }, (_, index) => next(index));
  let left = 0;
  const tookMs: number[] = [];
  let refused = 0;
  const since = performance.now();
  const client = async () => {
    for (let call = calls.pop(); call; call = calls.pop()) {
      const dueAt = perSecond === undefined ? performance.now() : since + (left * 1000) / perSecond;
      left += 1;
      const early = dueAt - performance.now();
      if (early > 1) await wait(early);
      // A timer may fire slightly early.
      const sinceMs = Math.min(dueAt, performance.now());
      const { statusCode, body } = await pool.request({
        method: call.method,
        path: call.path,
        headers: {
          ...(call.secret !== undefined && { authorization: `Bearer ${call.secret}` }),
          ...(call.body !== undefined && { "content-type": "application/json" }),
          ...call.headers,
        },
        body: call.body ?? null,
      });
      const text = await body.text();
      if (refusals && statusCode >= 500) refused += 1;
      else if (statusCode >= 300)
        throw new Error(`${call.method} ${call.path} was answered ${statusCode}: ${text}`);
      // Counts messages refused within a bulk call or an export as failures, because they cost less, too.
      else if (/"(refused|rejectedSpans)":"?[1-9]/.test(text.slice(0, 200)))
        throw new Error(`${call.method} ${call.path} refused messages: ${text.slice(0, 2_000)}`);
      tookMs.push(performance.now() - sinceMs);
      if (pauseMs > 0) await wait(pauseMs);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  const seconds = (performance.now() - since) / 1000;
  await pool.close();
  tookMs.sort((a, b) => a - b);
  const quantile = (q: number) => tookMs[Math.min(tookMs.length - 1, Math.floor(tookMs.length * q))] ?? 0;
  return {
    requests: count,
    perSecond: count / seconds,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    p999Ms: quantile(0.999),
    refused,
  };
}
