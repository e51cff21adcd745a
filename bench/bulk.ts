import { usage } from "./ingest";
import type { Call } from "./load";
import type { Part } from "./part";
import { atLeast, type Figure, type Round } from "./report";
import type { Contender, Stage } from "./stage";

/** Messages in a bulk call, and rows in a raw insert. */
const size = 500;

/** The connections of each contender, as many as a back-fill uses. */
const clients = 2;

/** The days over which a history is spread, including today. */
const historyDays = 50;

const dayMs = 86_400_000;

/** A bulk call of usage messages. @param days the days over which they are spread; 1 for the present time only */
function bulk(secret: string, index: number, days: number): Call {
  const messages = Array.from({ length: size }, (_, each) => {
    const call = JSON.parse(String(usage(secret, index * size + each).body));
    if (days > 1) call.message.occurred_at = new Date(Date.now() - (each % days) * dayMs).toISOString();
    return call;
  });
  return { method: "POST", path: "/api/v1/messages/batch", secret, body: JSON.stringify({ messages }) };
}

type Name = "rawToday" | "bulkToday" | "rawHistory" | "bulkHistory";

/** Compares bulk calls of 500 messages, of today and of a history, with raw inserts of as many rows on the same days. */
export function bulkPart({ floor, fast, keys }: Stage, requests: number): Part<Name> {
  const key = (index: number) => keys.many[index % keys.many.length] ?? "";
  const raw = (days: number) => (): Call => ({ method: "POST", path: `/raw/${size}/${days}` });
  const contenders: [Name, Contender, (index: number) => Call][] = [
    ["rawToday", floor, raw(1)],
    ["bulkToday", fast, (index) => bulk(key(index), index, 1)],
    ["rawHistory", floor, raw(historyDays)],
    ["bulkHistory", fast, (index) => bulk(key(index), index, historyDays)],
  ];
  const count = requests / 100;
  return {
    figures,
    contenders: contenders.map(([name, server, call]) => ({
      ...{ name, server, call, count, warmUp: count, pace: { clients } },
    })),
  };
}

const rate = (of: Name, to: Name) => (round: Round<Name>) =>
  (100 * round[of].perSecond) / round[to].perSecond;
const figures: Figure<Name>[] = [
  {
    name: "rows of bulk calls to raw inserts of 500, messages of today, a second",
    unit: "%",
    of: rate("bulkToday", "rawToday"),
    target: atLeast(60),
  },
  {
    name: `rows of bulk calls to raw inserts of 500, a history of ${historyDays} days, a second`,
    unit: "%",
    of: rate("bulkHistory", "rawHistory"),
    target: atLeast(40),
  },
  ...(["rawToday", "bulkToday", "rawHistory", "bulkHistory"] as const).flatMap((name): Figure<Name>[] => [
    { name: `${name}: CPU a call of ${size} rows`, unit: "ms", of: (round) => round[name].cpuMs },
    { name: `${name}: Postgres beside it`, unit: "ms", of: (round) => round[name].postgresCpuMs },
    { name: `${name}: rows`, unit: "/s", of: (round) => size * round[name].perSecond },
  ]),
];
