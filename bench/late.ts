import type { CostMessage } from "@/lib/contract/ledger/message";
import { seededRandom } from "@/lib/ledger/demo/random";
import type { Call } from "./load";
import { measure } from "./part";
import { atMost, type Figure, type Round } from "./report";
import { nextMessage } from "./ten-million/messages";
import type { ReadsStage } from "./ten-million/stage";
import { makeTeam } from "./ten-million/team";

const whens = ["today", "late"] as const;
type When = (typeof whens)[number];
const whats = ["bulk", "messages", "corrections", "voids"] as const;
type What = (typeof whats)[number];
export type LateName = `${What}, ${When}` | "back-fill";

/** Messages in a bulk call. */
const bulkSize = 500;
/** The days of the history. The last ones are not folded. */
const historyDays = 3 * 365;
const dayMs = 86_400_000;

/** Returns the day of a message, in days since 1970, by its index among all messages. */
type DayOf = (index: number) => number;

/**
 * Measures the cost of late messages: of messages of any day of three years that are recorded, corrected and voided in a workspace
 * whose days are folded, with people and tags, compared with messages of today. A back-fill sends three years in order, about four
 * weeks per call.
 * @param requests the number of requests of other parts; this part sends a fortieth of it, and of bulk calls an eightieth
 */
export async function measureLate(
  { service, postgresPid, workspaces, token }: ReadsStage,
  {
    rounds,
    requests,
    isInterrupted,
    say,
  }: { rounds: number; requests: number; isInterrupted: () => boolean; say: (line: string) => void },
): Promise<Round<LateName>[]> {
  const { slug, key } = workspaces.large;
  const team = makeTeam(1);
  const random = seededRandom(Date.now() % 1_000_000);
  const today = Math.floor(Date.now() / dayMs);
  const dayOf: Record<When, DayOf> = {
    today: () => today,
    late: () => today - 3 - Math.floor(random() * (historyDays - 3)),
  };
  const compose = (day: number) => {
    for (;;) {
      const { message, workload } = nextMessage(team, day, Date.now(), random);
      if (message.type === "usage")
        return { project: workload.project, source: "api", message: asSent(message) };
    }
  };
  const bulk = (dayOfMessage: DayOf): Call => ({
    method: "POST",
    path: "/api/v1/messages/batch",
    secret: key,
    body: JSON.stringify({
      messages: Array.from({ length: bulkSize }, (_, index) => compose(dayOfMessage(index))),
    }),
  });
  const correct = ({ id, project, message }: Recorded): Call => ({
    method: "POST",
    path: `/api/v1/workspaces/${slug}/messages/${id}/correct`,
    secret: token,
    body: JSON.stringify({ reason: "bench", project, message: { ...message, label: "corrected" } }),
  });
  const void_ = ({ id }: Recorded): Call => ({
    method: "POST",
    path: `/api/v1/workspaces/${slug}/messages/${id}/void`,
    secret: token,
    body: JSON.stringify({ reason: "bench" }),
  });
  const few = Math.max(20, Math.round(requests / 40));
  const calls = Math.max(4, Math.round(requests / 400));

  const run = (count: number, call: (index: number) => Call, clients: number) =>
    measure({ server: service, count, call, pace: { clients } }, postgresPid());
  const measureWhen = async (when: When): Promise<Partial<Round<LateName>>> => {
    const recorded = await record(
      service.baseUrl,
      key,
      Array.from({ length: 2 * few }, () => compose(dayOf[when](0))),
    );
    const ofBulk = await run(calls, () => bulk(dayOf[when]), 1);
    return {
      [`bulk, ${when}`]: ofBulk,
      [`messages, ${when}`]: await run(
        few * 4,
        () => ({
          ...bulk(dayOf[when]),
          path: "/api/v1/messages",
          body: JSON.stringify(compose(dayOf[when](0))),
        }),
        8,
      ),
      [`corrections, ${when}`]: await run(few, (index) => correct(recorded[index] as Recorded), 4),
      [`voids, ${when}`]: await run(few, (index) => void_(recorded[few + index] as Recorded), 4),
    };
  };
  const done: Round<LateName>[] = [];
  for (let round = 0; round <= rounds && !isInterrupted(); round += 1) {
    const measured: Partial<Round<LateName>> = {};
    for (const when of whens) Object.assign(measured, await measureWhen(when));
    const fills = historyDays / 28;
    measured["back-fill"] = await run(
      fills,
      (call) => bulk((index) => today - historyDays + Math.floor((call + index / bulkSize) * 28)),
      1,
    );
    // The first round warms up.
    if (round === 0) continue;
    done.push(measured as Round<LateName>);
    say(
      `round ${round}: ${Object.entries(measured)
        .map(([name, { cpuMs, postgresCpuMs }]) => `${name} ${(cpuMs + postgresCpuMs).toFixed(2)}`)
        .join(", ")} ms CPU`,
    );
  }
  return done;
}

const figures = ["quantity", "amount", "estimated_cost"];

/** Converts a message to the form that a client sends, in which figures are numbers. */
const asSent = (message: CostMessage): CostMessage =>
  JSON.parse(JSON.stringify(message, (name, value) => (figures.includes(name) ? Number(value) : value)));

/** A message that was recorded. */
type Recorded = { id: string; project: string; message: object };

async function record(baseUrl: string, key: string, messages: Omit<Recorded, "id">[]): Promise<Recorded[]> {
  const recorded: Recorded[] = [];
  for (let from = 0; from < messages.length; from += bulkSize) {
    const sent = messages.slice(from, from + bulkSize);
    const response = await fetch(`${baseUrl}/api/v1/messages/batch`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      body: JSON.stringify({ messages: sent }),
    });
    const { results } = (await response.json()) as { results: { id?: string }[] };
    for (const [index, { id }] of results.entries()) {
      if (id === undefined) throw new Error(`A message was refused: ${JSON.stringify(results[index])}`);
      const { project = "", message = {} } = sent[index] ?? {};
      recorded.push({ id, project, message });
    }
  }
  return recorded;
}

const sizeOf: Record<What, number> = { bulk: bulkSize, messages: 1, corrections: 1, voids: 1 };
const cpuOf = (what: What, when: When) => (round: Round<LateName>) =>
  (round[`${what}, ${when}`].cpuMs + round[`${what}, ${when}`].postgresCpuMs) / sizeOf[what];

export const lateFigures: Figure<LateName>[] = [
  ...whats.flatMap((what): Figure<LateName>[] => [
    ...whens.map((when) => ({
      name: `${what}, ${when}: CPU${what === "bulk" ? " a message" : ""}`,
      unit: "ms" as const,
      of: cpuOf(what, when),
    })),
    {
      name: `${what}: late to today`,
      unit: "×",
      of: (round) => cpuOf(what, "late")(round) / cpuOf(what, "today")(round),
      target: atMost(3),
    },
  ]),
  {
    name: "back-fill: CPU a message",
    unit: "ms",
    of: (round) => (round["back-fill"].cpuMs + round["back-fill"].postgresCpuMs) / bulkSize,
  },
  {
    name: "back-fill: the slowest call",
    unit: "ms",
    of: (round) => round["back-fill"].p999Ms,
    target: atMost(1_000),
  },
];
