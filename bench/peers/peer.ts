import type { Provider } from "./provider";

/** What became of a call. `failed`: the caller got no answer, or an error of the service. */
export type Outcome = "answered" | "refused" | "failed";

/** Calls and USD that a ledger has, and USD that are still held for calls. */
export type Recorded = { calls?: number; usd: number; heldUsd?: number };

/** A running service that keeps a limit on what callers spend. */
export type Peer = {
  /** Calls the model as a program does that is limited by this service. */
  call(): Promise<Outcome>;
  /** The processes whose CPU time counts, without Postgres. */
  pids(): number[];
  /** Kills a process with SIGKILL, and resolves when the service answers again. */
  kill(): Promise<void>;
  read(): Promise<Recorded>;
  stop(): Promise<void>;
};

/** What a service is started with. `limitUsd`: what callers may spend. `databaseUrl`: an empty database of its own. */
export type Conditions = { provider: Provider; limitUsd: number; databaseUrl: string };

/** Waits until an address answers with a status below 500. @throws Error after three minutes, with what `output` returns */
export async function untilAnswering(url: string, output: () => string): Promise<void> {
  for (const endsAt = Date.now() + 180_000; ; ) {
    const status = await fetch(url).then(
      (response) => response.status,
      () => 503,
    );
    if (status < 500) return;
    if (Date.now() > endsAt) throw new Error(`${url} does not answer:\n${output().slice(-4000)}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Sends JSON with a bearer token. @throws TypeError or TimeoutError if no answer came within half a minute */
export async function send(
  url: string,
  token: string,
  body?: unknown,
  method = body === undefined ? "GET" : "POST",
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  });
  const text = await response.text();
  return { status: response.status, body: text.startsWith("{") ? JSON.parse(text) : { text } };
}
