import { setMaxListeners } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { Agent, request } from "undici";
import { usage } from "./ingest";
import type { Call } from "./load";
import type { Part } from "./part";
import type { Figure, Measurement, Round } from "./report";
import type { Stage } from "./stage";

const attacks = {
  docs: "/docs on 16 connections",
  bulk: "8 MiB bodies with a key that is none, on 4 connections",
  exports: "4 exports of 300,000 rows at once, of four users",
  "same user": "4 exports at once, of one user",
  passwords: "150 changes of a password at once",
};
type Attack = keyof typeof attacks;
type What = "message" | "summary";
type Name = What | `${What} under ${Attack}`;

/** A tenant at work: eight programs, each of which waits a little after an answer. */
const pace = { clients: 8, pauseMs: 30, refusals: true };

/** Begins to press on a service in so many places at once; what is answered is read and does not matter. */
function press(clients: number, once: (client: number, signal: AbortSignal) => Promise<void>) {
  return () => {
    const stop = new AbortController();
    setMaxListeners(0, stop.signal);
    const agents = Array.from({ length: clients }, async (_, client) => {
      while (!stop.signal.aborted) {
        await once(client, stop.signal).catch(() => wait(50));
      }
    });
    return async () => {
      stop.abort();
      await Promise.all(agents);
    };
  };
}

/**
 * What one tenant's messages and summaries take while another presses on the service.
 * @param only the one attack to try; all of them without it
 */
export async function isolationPart(
  { fast, keys, dashboard, addMember }: Stage,
  requests: number,
  only?: string,
): Promise<Part<Name>> {
  const { baseUrl } = fast;
  const dispatcher = new Agent({ connections: 200, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
  const send = async (
    path: string,
    signal: AbortSignal,
    options: Partial<Parameters<typeof request>[1]> = {},
  ) => {
    const { body, statusCode } = await request(baseUrl + path, { dispatcher, signal, ...options });
    await body.dump({ limit: Number.MAX_SAFE_INTEGER });
    // Who is refused waits a little, or the refusals would be the load.
    if (statusCode >= 400) await wait(20);
  };
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const readers = await Promise.all(Array.from({ length: 4 }, () => addMember(dashboard.slugs.full)));
  const exported = `/api/v1/workspaces/${dashboard.slugs.full}/export?period=month`;
  const bulk = JSON.stringify({ messages: Array.from({ length: 1_000 }, () => "x".repeat(8_300)) });
  const begin: Record<Attack, () => () => Promise<void>> = {
    docs: press(16, (_, signal) => send("/docs", signal)),
    bulk: press(4, (_, signal) =>
      send("/api/v1/messages/batch", signal, {
        method: "POST",
        headers: { ...bearer(`svc_live_${"0".repeat(43)}`), "content-type": "application/json" },
        body: bulk,
      }),
    ),
    exports: press(4, (client, signal) => send(exported, signal, { headers: bearer(readers[client] ?? "") })),
    "same user": press(4, (_, signal) => send(exported, signal, { headers: bearer(dashboard.token) })),
    passwords: press(150, (client, signal) =>
      send("/auth/v1/user", signal, {
        method: "PUT",
        headers: { ...bearer(readers[client % readers.length] ?? ""), "content-type": "application/json" },
        body: JSON.stringify({ password: `correct horse ${Math.random()}` }),
      }),
    ),
  };
  const calls: Record<What, (index: number) => Call> = {
    message: (index) => usage(keys.many[index % keys.many.length] ?? "", index),
    summary: () => ({ method: "GET", path: "/api/v1/summary/month", secret: keys.small }),
  };
  const whats = Object.keys(calls) as What[];
  const names = (Object.keys(attacks) as Attack[]).filter((attack) => only === undefined || attack === only);
  if (names.length === 0) throw new Error(`--attack is one of ${Object.keys(attacks).join(", ")}`);
  const task = (name: Name, what: What) => ({
    name,
    server: fast,
    count: requests / 8,
    call: calls[what],
    pace,
  });
  return {
    // Calm and attack in turn, so that what else the machine does falls on both.
    contenders: [
      ...whats.map((what) => task(what, what)),
      ...names.flatMap((attack) =>
        whats.map((what) => ({ ...task(`${what} under ${attack}`, what), meanwhile: begin[attack] })),
      ),
    ],
    figures: [
      ...whats.map((what) => p99Of(what, `p99 of a ${what}, in calm`)),
      ...names.flatMap((attack) =>
        whats.flatMap((what): Figure<Name>[] => [
          p99Of(`${what} under ${attack}`, `p99 of a ${what}: ${attacks[attack]}`),
          {
            name: "  to that in calm",
            unit: "×",
            of: (round) => round[`${what} under ${attack}`].p99Ms / round[what].p99Ms,
            target: { text: "at most 3", holds: (median) => median <= 3 },
          },
          { name: "  refused (503)", unit: "%", of: (round) => refusedOf(round[`${what} under ${attack}`]) },
        ]),
      ),
    ],
  };
}

const refusedOf = ({ refused, requests }: Measurement) => (100 * refused) / requests;

function p99Of(name: Name, text: string): Figure<Name> {
  return { name: text, unit: "ms", of: (round: Round<Name>) => round[name].p99Ms };
}
