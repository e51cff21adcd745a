import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { projectRoot } from "@/tests/helpers/project-root";
import { type Attack, attacks, type Means } from "./attack";
import { usage } from "./ingest";
import type { Call } from "./load";
import type { Part } from "./part";
import { atMost, type Figure, type Measurement, type Round } from "./report";
import type { Stage } from "./stage";

type What = "message" | "summary";
type Name = What | `${What} under ${Attack}`;

/** A tenant's normal load: eight programs, each of which pauses after a response. */
const pace = { clients: 8, pauseMs: 30, refusals: true };

/** Starts an attack in a thread of its own. @returns a function that ends it */
async function begin(means: Means): Promise<() => Promise<void>> {
  const worker = new Worker(join(projectRoot, "dist/bench/attack.mjs"), { workerData: means });
  const ended = once(worker, "exit");
  await once(worker, "message");
  return async () => {
    worker.postMessage("stop");
    await ended;
  };
}

/**
 * Measures one tenant's messages and summaries while another tenant loads the service.
 * @param only the attack to run; undefined: all
 */
export async function isolationPart(
  { fast, keys, dashboard, addMember }: Stage,
  requests: number,
  only?: string,
): Promise<Part<Name>> {
  const { baseUrl } = fast;
  const readers = await Promise.all(Array.from({ length: 4 }, () => addMember(dashboard.slugs.full)));
  const means = { baseUrl, slug: dashboard.slugs.full, readers, token: dashboard.token };
  const calls: Record<What, (index: number) => Call> = {
    message: (index) => usage(keys.many[index % keys.many.length] ?? "", index),
    summary: () => ({ method: "GET", path: "/api/v1/summary/month", secret: keys.small[0] ?? "" }),
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
    // Alternates measurements with and without an attack, so that other work on the machine affects both equally.
    contenders: [
      ...whats.map((what) => task(what, what)),
      ...names.flatMap((attack) =>
        whats.map((what) => ({
          ...task(`${what} under ${attack}`, what),
          meanwhile: () => begin({ ...means, attack }),
        })),
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
            target: atMost(3),
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
