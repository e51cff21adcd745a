// Sends an attacker's requests to a service from a thread of its own, until it receives a message: the attacker's work
// must not delay the requests that are measured.
import { setMaxListeners } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { Agent, request } from "undici";

export const attacks = {
  docs: "/docs on 16 connections",
  bulk: "8 MiB bodies with an unknown key, on 4 connections",
  exports: "4 exports of 300,000 rows at once, of four users",
  "same user": "4 exports at once, of one user",
  passwords: "150 changes of a password at once",
};
export type Attack = keyof typeof attacks;

/** The target and credentials of an attack. `readers`, `token`: access tokens of four members of `slug`, and of its owner. */
export type Means = { attack: Attack; baseUrl: string; slug: string; readers: string[]; token: string };

type Options = NonNullable<Parameters<typeof request>[1]>;

async function press({ attack, baseUrl, slug, readers, token }: Means, stop: AbortSignal): Promise<void> {
  const dispatcher = new Agent({ connections: 200, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
  const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
  const json = { "content-type": "application/json" };
  const exported = `/api/v1/workspaces/${slug}/export?period=month`;
  const readerOf = (client: number) => bearer(readers[client % readers.length] ?? "");
  const bulk = Buffer.from(
    JSON.stringify({ messages: Array.from({ length: 1_000 }, () => "x".repeat(8_300)) }),
  );
  const stranger = bearer(`svc_live_${"0".repeat(43)}`);
  const plans: Record<
    Attack,
    [clients: number, path: string, options: (client: number) => Partial<Options>]
  > = {
    docs: [16, "/docs", () => ({})],
    bulk: [
      4,
      "/api/v1/messages/batch",
      () => ({ method: "POST", headers: { ...stranger, ...json }, body: bulk }),
    ],
    exports: [4, exported, (client) => ({ headers: readerOf(client) })],
    "same user": [4, exported, () => ({ headers: bearer(token) })],
    passwords: [
      150,
      "/auth/v1/user",
      (client) => ({
        method: "PUT",
        headers: { ...readerOf(client), ...json },
        body: JSON.stringify({ password: `correct horse ${Math.random()}` }),
      }),
    ],
  };
  const [clients, path, options] = plans[attack];
  setMaxListeners(0, stop);
  const once = async (client: number) => {
    const { body, statusCode } = await request(baseUrl + path, {
      dispatcher,
      signal: stop,
      ...options(client),
    });
    await body.dump({ limit: Number.MAX_SAFE_INTEGER });
    // A refused client pauses, because otherwise refusals would make up most of the load.
    if (statusCode >= 400) await wait(20);
  };
  const agents = Array.from({ length: clients }, async (_, client) => {
    while (!stop.aborted) await once(client).catch(() => wait(50));
  });
  await Promise.all(agents);
  await dispatcher.destroy();
}

if (parentPort) {
  const stop = new AbortController();
  parentPort.once("message", () => stop.abort());
  parentPort.postMessage("begins");
  await press(workerData as Means, stop.signal);
}
