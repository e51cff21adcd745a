import { usage } from "./ingest";
import type { Part } from "./part";
import { atMost, type Figure, type Round } from "./report";
import type { Stage } from "./stage";

/** A key holds at most 1,000 reservations at a time: these end after 10 seconds, and are of many keys. */
const keyCount = 200;
const seconds = 10;

type Name = "message" | "reservation";

/** Measures what a program that reserves before each call of a model adds to it: one request, beside the message that records the call. */
export async function reservationsPart({ fast, addKeys }: Stage, requests: number): Promise<Part<Name>> {
  const keys = await addKeys(keyCount);
  const message = (index: number) => usage(keys[index % keyCount] ?? "", index);
  return {
    figures,
    contenders: [
      { name: "message", server: fast, count: requests, call: message },
      {
        name: "reservation",
        server: fast,
        count: requests,
        call: (index) => {
          const call = message(index);
          const body = JSON.stringify({ ...JSON.parse(String(call.body)), expires_in_seconds: seconds });
          return { ...call, path: "/api/v1/reservations", body };
        },
      },
    ],
  };
}

const both = (name: Name) => (round: Round<Name>) => round[name].cpuMs + round[name].postgresCpuMs;

const figures: Figure<Name>[] = [
  { name: "message: CPU of service + Postgres", unit: "ms", of: both("message") },
  { name: "reservation: CPU of service + Postgres", unit: "ms", of: both("reservation") },
  {
    name: "reservation to message: CPU of service + Postgres",
    unit: "×",
    of: (round) => both("reservation")(round) / both("message")(round),
    target: atMost(1),
  },
  {
    name: "reservation to message: p50",
    unit: "×",
    of: ({ reservation, message }) => reservation.p50Ms / message.p50Ms,
  },
];
