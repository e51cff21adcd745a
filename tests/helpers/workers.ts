import { execFileSync } from "node:child_process";
import { Agent, type ClientRequest, request } from "node:http";
import { text } from "node:stream/consumers";
import { vi } from "vitest";
import { monitoring, type Service } from "./service";

/** The process ids of a service's workers. */
export function workerPids({ process: { pid } }: Service): number[] {
  return execFileSync("ps", ["-eo", "pid=,ppid=,stat="], { encoding: "utf8" })
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .flatMap(([child, parent, state]) =>
      Number(parent) === pid && !state?.startsWith("Z") ? [Number(child)] : [],
    );
}

/** Waits until a service has this many workers, all of which serve. @returns their process ids */
export async function untilServing(service: Service, count: number): Promise<number[]> {
  await vi.waitUntil(async () => (await requestsOfWorkers(service, "/metrics")).size === count, {
    timeout: 30_000,
    interval: 50,
  });
  return workerPids(service);
}

/** How many requests of a route each worker has answered, by the worker's number. */
export async function requestsOfWorkers({ baseUrl }: Service, route: string): Promise<Map<string, number>> {
  const metrics = await (await fetch(`${baseUrl}/metrics`, { headers: monitoring })).text();
  const requests = new Map<string, number>();
  for (const [, worker = ""] of metrics.matchAll(/^process_start_time_seconds\{worker="(\d+)"\}/gm))
    requests.set(worker, 0);
  for (const line of metrics.split("\n")) {
    if (!line.startsWith("outlay_http_request_duration_seconds_count{")) continue;
    if (!line.includes(`route="${route}"`)) continue;
    const worker = /worker="(\d+)"/.exec(line)?.[1] ?? "";
    requests.set(worker, (requests.get(worker) ?? 0) + Number(line.split(" ").at(-1)));
  }
  return requests;
}

/** A connection that stays open, and therefore with one worker. */
export class Connection {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(private readonly baseUrl: string) {}

  /** Begins a request and returns it. */
  begin(method: string, path: string, headers: Record<string, string> = {}, body?: unknown): ClientRequest {
    const sent = request(this.baseUrl + path, {
      method,
      agent: this.#agent,
      headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    return sent;
  }

  /** Sends a request. @returns the status and the parsed body */
  send(
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body?: unknown,
  ): Promise<{ status: number; body: Record<string, unknown> }> {
    return new Promise((resolve, reject) => {
      this.begin(method, path, headers, body)
        .once("error", reject)
        .once("response", async (response) => {
          const answer = await text(response);
          const isJson = /json/.test(response.headers["content-type"] ?? "");
          resolve({ status: response.statusCode ?? 0, body: isJson ? JSON.parse(answer) : {} });
        });
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Opens a connection to each of a service's two workers. Nobody else may ask for its health meanwhile. */
export async function connectToBoth(service: Service): Promise<[Connection, Connection]> {
  const found = new Map<string, Connection>();
  while (found.size < 2) {
    const before = await requestsOfWorkers(service, "/api/health");
    const connection = new Connection(service.baseUrl);
    await connection.send("GET", "/api/health");
    const after = await requestsOfWorkers(service, "/api/health");
    const worker = [...after.keys()].find((each) => after.get(each) !== (before.get(each) ?? 0)) ?? "";
    if (found.has(worker)) connection.close();
    else found.set(worker, connection);
  }
  return [...found.values()] as [Connection, Connection];
}
