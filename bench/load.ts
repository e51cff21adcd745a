import { setTimeout as wait } from "node:timers/promises";
import { Pool } from "undici";

/** One request of a load. */
export type Call = {
  method: "GET" | "POST";
  path: string;
  /** An API key or access token; pages go by a cookie among the headers. */
  secret?: string;
  body?: string;
  headers?: Record<string, string>;
};

/** What a load took: requests a second, and the 50th and 99th of a hundred answers, ms; how many were refusals. */
export type LoadResult = {
  requests: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  refused: number;
};

/** How hard a load presses: so many connections, and how long each waits after an answer. */
export type Pace = {
  clients?: number;
  pauseMs?: number /** Counts refusals (5xx) as answers. */;
  refusals?: boolean;
};

/** Keep-alive connections, each with one request at a time. */
export const connections = 64;

/**
 * Sends `count` requests over a fixed number of connections, each as soon as its connection is free.
 * @throws at the first answer that is no success, unless refusals count: one costs less, and would pass for speed
 */
export async function runLoad(
  baseUrl: string,
  count: number,
  next: (index: number) => Call,
  { clients = connections, pauseMs = 0, refusals = false }: Pace = {},
): Promise<LoadResult> {
  const pool = new Pool(baseUrl, { connections: clients, pipelining: 1 });
  const calls = Array.from({ length: count }, (_, index) => next(index));
  const tookMs: number[] = [];
  let refused = 0;
  const since = performance.now();
  const client = async () => {
    for (let call = calls.pop(); call; call = calls.pop()) {
      const sentAt = performance.now();
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
      tookMs.push(performance.now() - sentAt);
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
    refused,
  };
}
