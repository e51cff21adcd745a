import { setTimeout as wait } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { chatCall, exportPoints, exportSpans, toProtobuf } from "@/tests/helpers/otlp";
import { monitoring } from "@/tests/helpers/service";
import { usage } from "./ingest";
import { runLoad } from "./load";
import { atMost, type Figure, type Measurement, type Round } from "./report";
import type { Contender, Stage } from "./stage";

/** The most bytes that a body may inflate to. */
const limitBytes = 8 * 1024 * 1024;

/** The longest that one load may take. A service that does not answer for this long is ended. */
const deafMs = 30_000;

/** The load of the other tenant, in messages a second. */
const tenant = { clients: 16, perSecond: 50, refusals: true };
const tenantMessages = 300;

/** The connections that send hostile bodies, each as soon as its previous body was answered. */
const senders = 4;

type Hostile = { path: string; type: "json" | "protobuf"; body: Uint8Array };

/** Repeats `unit` between `head` and `tail` as often as the limit allows. */
function filled(head: string, unit: string, tail: string, bytes = limitBytes): Uint8Array {
  const count = Math.floor((bytes - head.length - tail.length) / (unit.length + 1));
  return Buffer.from(`${head}${`${unit},`.repeat(count - 1)}${unit}${tail}`);
}

/** A protobuf message in a field, with its length. */
function field(number: number, content: Buffer): Buffer {
  const length: number[] = [];
  let rest = content.length;
  for (; rest > 127; rest = Math.floor(rest / 128)) length.push((rest % 128) | 128);
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length, rest]), content]);
}

/** As many empty records as the limit allows, nested in fields with the given numbers, the innermost first. */
function emptyRecords(recordField: number, ...around: number[]): Buffer {
  const record = Buffer.from([(recordField << 3) | 2, 0]);
  const records = Buffer.alloc(limitBytes - 64, record);
  return around.reduce<Buffer>((content, number) => field(number, content), records);
}

/** Spans that are each the child of the previous one (`chain`), that are all of one call, or a chain with many children at its end. */
function spans(count: number, kind: "chain" | "same call" | "leaves"): unknown {
  return exportSpans(
    Array.from({ length: count }, (_, index) => {
      const parent = kind === "leaves" && index > count / 2 ? Math.floor(count / 2) : index;
      return {
        id: (index + 1).toString(16),
        ...(kind !== "same call" && index > 0 && { parent: parent.toString(16) }),
        attributes:
          kind === "same call"
            ? { ...chatCall, "gen_ai.response.id": "chatcmpl-one-and-the-same" }
            : chatCall,
      };
    }),
  ).body;
}

const traces = "/api/otlp/v1/traces";
const logs = "/api/otlp/v1/logs";
const metrics = "/api/otlp/v1/metrics";
const bulk = "/api/v1/messages/batch";
const json = (path: string, body: unknown): Hostile => ({
  path,
  type: "json",
  body: body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body)),
});
const protobuf = (path: string, body: Uint8Array): Hostile => ({ path, type: "protobuf", body });

const emptySpans = () => filled('{"resourceSpans":[{"scopeSpans":[{"spans":[', "{}", "]}]}]}");
const points = (attributes: Record<string, string>) =>
  exportPoints(
    Array.from({ length: 40_000 }, (_, index) => ({ start: 1, time: index + 2, value: index })),
    { attributes },
  ).body;
const item = '{"unit_type":"requests","quantity":1}';
/** Batches with more items than a call may record, as many batches as the limit on JSON values allows. */
const batches = (quantity: string) => {
  const one = `{"project":"p","source":"api","message":{"type":"batch","provider":"x","batch_id":"b","items":[${Array(
    200,
  )
    .fill(item.replace("1}", `${quantity}}`))
    .join()}]}}`;
  const count = 240;
  return Buffer.from(`{"messages":[${Array(count).fill(one).join()}]}`);
};

const hostile = {
  "a chain of 2,000 spans": () => json(traces, spans(2_000, "chain")),
  "a chain of 9,000 spans": () => json(traces, spans(9_000, "chain")),
  "4,500 spans below a chain of 4,500": () => json(traces, spans(9_000, "leaves")),
  "9,000 spans of one call": () => json(traces, spans(9_000, "same call")),
  "8 MiB of empty spans, JSON": () => json(traces, emptySpans()),
  "8 MiB of empty spans, protobuf": () => protobuf(traces, emptyRecords(2, 2, 1)),
  "8 MiB of empty logs, JSON": () =>
    json(logs, filled('{"resourceLogs":[{"scopeLogs":[{"logRecords":[', "{}", "]}]}]}")),
  "8 MiB of empty logs, protobuf": () => protobuf(logs, emptyRecords(2, 2, 1)),
  "8 MiB of empty points, JSON": () =>
    json(
      metrics,
      filled(
        '{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"m","sum":{"aggregationTemporality":1,"dataPoints":[',
        "{}",
        "]}}]}]}]}",
      ),
    ),
  "8 MiB of empty points, protobuf": () => protobuf(metrics, emptyRecords(1, 7, 2, 2, 1)),
  "40,000 points": () => protobuf(metrics, toProtobuf("metrics", points({ a: "b" }) as never)),
  "8 MiB of empty scopes, JSON": () => json(traces, filled('{"resourceSpans":[', "{}", "]}")),
  "8 MiB of empty attributes, JSON": () =>
    json(traces, filled('{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[', "{}", "]}]}]}]}")),
  "8 MiB of empty attributes, protobuf": () => protobuf(traces, emptyRecords(9, 2, 2, 1)),
  "8 MiB of nested lists": () =>
    json(metrics, Buffer.concat([Buffer.alloc(limitBytes / 2, "["), Buffer.alloc(limitBytes / 2, "]")])),
  "OpenRouter: 8 MiB of empty spans": () => json("/api/v1/sources/openrouter", emptySpans()),
  "LiteLLM: 8 MiB of empty items": () => json("/api/v1/sources/litellm", filled("[", "{}", "]")),
  "bulk: batches with 48,000 items": () => json(bulk, batches("1")),
  "bulk: batches with exact quantities": () => json(bulk, batches("1.0000000000000001")),
  "bulk: 8 MiB of empty lists": () => json(bulk, filled('{"messages":[', "[]", "]}")),
  "bulk: a message with a million fields": () =>
    json(
      bulk,
      Buffer.from(
        `{"messages":[{${Array.from({ length: 700_000 }, (_, index) => `"f${index}":1`).join()}}]}`,
      ).subarray(0),
    ),
} satisfies Record<string, () => Hostile>;

type Name = "calm" | keyof typeof hostile;
const names = Object.keys(hostile) as (keyof typeof hostile)[];

/** The latency of another tenant's messages meanwhile, and the longest time for which the event loop was blocked, ms. */
type HostileRound = Round<Name>;

/**
 * Sends each hostile body, gzipped, with a key that may only record usage, while another tenant posts messages, and measures
 * that tenant's latency and the longest time for which the service's event loop was blocked.
 */
export async function measureHostile(
  { serve, keys, addKeys }: Stage,
  {
    rounds,
    say,
    isInterrupted,
  }: { rounds: number; say: (text: string) => void; isInterrupted: () => boolean },
): Promise<HostileRound[]> {
  const [attacker = ""] = await addKeys(1);
  const done: HostileRound[] = [];
  let service = await serve({});
  const call = (index: number) => usage(keys.many[index % keys.many.length] ?? "", index);
  await runLoad(service.baseUrl, tenantMessages, call, tenant);
  while (done.length < rounds && !isInterrupted()) {
    const round: Partial<HostileRound> = {};
    for (const name of ["calm", ...names] as const) {
      if (isInterrupted()) return done;
      const sending = name === "calm" ? undefined : await begin(service, attacker, hostile[name]());
      await longestHold(service);
      const load = runLoad(service.baseUrl, tenantMessages, call, tenant);
      const result = await Promise.race([load, wait(deafMs, undefined, { ref: false })]).catch(
        () => undefined,
      );
      const statuses = await sending?.end();
      if (result) round[name] = { ...result, cpuMs: 0, postgresCpuMs: 0, holdMs: await longestHold(service) };
      else {
        load.catch(() => {});
        process.kill(service.pid, "SIGKILL");
        service = await serve({});
        await runLoad(service.baseUrl, tenantMessages, call, tenant);
        round[name] = deaf;
      }
      const { p99Ms, holdMs = 0, refused } = round[name] as Measurement;
      say(
        `  ${name}: p99 ${p99Ms.toFixed(0)} ms, hold ${holdMs.toFixed(0)} ms, ${refused} refused; its answers: ${statuses ?? "none"}`,
      );
    }
    done.push(round as HostileRound);
  }
  return done;
}

const deaf: Measurement = {
  requests: 0,
  perSecond: 0,
  p50Ms: deafMs,
  p99Ms: deafMs,
  p999Ms: deafMs,
  refused: tenantMessages,
  cpuMs: 0,
  postgresCpuMs: 0,
  holdMs: deafMs,
};

/** Sends a body repeatedly. @returns a function that stops it and returns how often each status was answered */
async function begin({ baseUrl }: Contender, secret: string, { path, type, body }: Hostile) {
  const compressed = gzipSync(body);
  const stop = new AbortController();
  const counts = new Map<string, number>();
  const send = async () => {
    while (!stop.signal.aborted) {
      const status = await fetch(baseUrl + path, {
        method: "POST",
        headers: {
          authorization: `Bearer ${secret}`,
          "content-type": type === "json" ? "application/json" : "application/x-protobuf",
          "content-encoding": "gzip",
        },
        body: compressed,
        signal: stop.signal,
      }).then(
        async (response) => {
          await response.arrayBuffer();
          return String(response.status);
        },
        () => "ended",
      );
      counts.set(status, (counts.get(status) ?? 0) + 1);
      await wait(20);
    }
  };
  const all = Promise.all(Array.from({ length: senders }, send));
  return {
    end: async () => {
      stop.abort();
      await all;
      return [...counts].map(([status, count]) => `${count} × ${status}`).join(", ");
    },
  };
}

/** The longest time for which the event loop was blocked since the last call, ms. */
async function longestHold({ baseUrl }: Contender): Promise<number> {
  const response = await fetch(`${baseUrl}/metrics`, {
    headers: monitoring,
    signal: AbortSignal.timeout(deafMs),
  }).catch(() => undefined);
  const seconds = /^nodejs_eventloop_lag_max_seconds(?:\{[^}]*\})? (\S+)/m.exec(
    (await response?.text()) ?? "",
  )?.[1];
  return seconds === undefined ? deafMs : 1000 * Number(seconds);
}

export const hostileFigures: Figure<Name>[] = [
  { name: "p99 of another tenant's message, in calm", unit: "ms", of: ({ calm }) => calm.p99Ms },
  { name: "longest hold of the event loop, in calm", unit: "ms", of: ({ calm }) => calm.holdMs ?? 0 },
  ...names.flatMap((name): Figure<Name>[] => [
    { name: `p99: ${name}`, unit: "ms", of: (round) => round[name].p99Ms },
    {
      name: "  to that in calm",
      unit: "×",
      of: (round) => round[name].p99Ms / round.calm.p99Ms,
      target: atMost(3),
    },
    { name: "  longest hold", unit: "ms", of: (round) => round[name].holdMs ?? 0, target: atMost(250) },
  ]),
];
