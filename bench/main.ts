import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { projectRoot } from "@/tests/helpers/project-root";
import { toolCall } from "@/tests/helpers/tool-call";
import { cpuMs, treeCpuMs } from "./cpu";
import { type Call, connections, runLoad } from "./load";
import { formatTable, type Measurement, type Round, summarise } from "./report";
import { type Contender, months, type Stage, setStage } from "./stage";

const { values: options } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    requests: { type: "string", default: "8000" },
    json: { type: "string" },
  },
});
const rounds = Number(options.rounds);
const requests = Number(options.requests);

const projects = 20;
const features = 8;

/** A usage message as a client sends it; the service prices it. */
function usage(secret: string, index: number): Call {
  const body = JSON.stringify({
    project: `project-${index % projects}`,
    source: "api",
    message: {
      type: "usage",
      provider: "openai",
      model: "gpt-4o",
      unit_type: "input_tokens",
      quantity: 1_000 + (index % 997),
      feature: `feature-${index % features}`,
    },
  });
  return { method: "POST", path: "/api/v1/messages", secret, body };
}

/** The same usage as an agent records it, by the present protocol. */
function tool(secret: string, index: number): Call {
  const { body, headers } = toolCall(
    "2026",
    "log_usage",
    {
      project: `project-${index % projects}`,
      provider: "openai",
      model: "gpt-4o",
      unit_type: "input_tokens",
      quantity: 1_000 + (index % 997),
      feature: `feature-${index % features}`,
    },
    { id: index },
  );
  return { method: "POST", path: "/api/mcp", secret, body: JSON.stringify(body), headers };
}

/** The contenders in the order of a round: who answers, how many requests, and which. */
function contendersOf({ bare, fast, next, keys }: Stage) {
  const one = (list: string[], index: number) => list[index % list.length] ?? "";
  const summary = (secret: string): Call => ({ method: "GET", path: "/api/v1/summary/month", secret });
  const contenders: [keyof Round, Contender, number, (index: number) => Call][] = [
    ["bare", bare, requests, (index) => usage(one(keys.many, index), index)],
    ["many", fast, requests, (index) => usage(one(keys.many, index), index)],
    ["hot", fast, requests, (index) => usage(keys.hot, index)],
    ["tool", fast, requests / 2, (index) => tool(one(keys.many, index), index)],
    ["next", next, requests / 4, (index) => usage(one(keys.many, index), index)],
    ["small", fast, requests / 8, () => summary(keys.small)],
    ["large", fast, requests / 80, () => summary(keys.large)],
  ];
  return contenders.map(([name, server, count, call]) => ({
    name,
    server,
    count: Math.max(1, Math.round(count)),
    call,
  }));
}

async function measure(
  stage: Stage,
  { server, count, call }: ReturnType<typeof contendersOf>[number],
): Promise<Measurement> {
  const postgresPid = stage.postgresPid();
  const before = { own: cpuMs(server.pid), postgres: treeCpuMs(postgresPid) };
  const result = await runLoad(server.baseUrl, count, call);
  return {
    ...result,
    cpuMs: (cpuMs(server.pid) - before.own) / count,
    postgresCpuMs: (treeCpuMs(postgresPid) - before.postgres) / count,
  };
}

async function main(): Promise<void> {
  const say = (text: string) => process.stdout.write(`${text}\n`);
  const stage = await setStage(join(projectRoot, "dist/bench/bare.mjs"));
  // A second one ends it the hard way; the servers' own watch over their parent is not needed then.
  let interrupted = false;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      interrupted = true;
      say("stopping after this load …");
    });
  }
  const results: Round[] = [];
  try {
    const contenders = contendersOf(stage);
    say(`warming up; then ${rounds} rounds of ${requests} requests on ${connections} connections`);
    for (const { server, count, call } of contenders) {
      if (!interrupted) await runLoad(server.baseUrl, Math.ceil(count / 2), call);
    }
    while (results.length < rounds && !interrupted) {
      const round: Partial<Round> = {};
      for (const contender of contenders) {
        if (!interrupted) round[contender.name] = await measure(stage, contender);
      }
      if (interrupted) break;
      results.push(round as Round);
      say(
        `round ${results.length}: ${contenders.map(({ name }) => `${name} ${round[name]?.cpuMs.toFixed(3)}`).join(", ")} ms CPU`,
      );
    }
  } finally {
    await stage.stop();
  }
  if (results.length === 0) return;
  const summary = summarise(results);
  say(`\nMedian of ${results.length} rounds (least to most):\n${formatTable(summary)}`);
  const at = new Date().toISOString();
  const file = options.json ?? join(projectRoot, `bench-results/${at.replaceAll(":", "-")}.json`);
  mkdirSync(dirname(file), { recursive: true });
  const machine = {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memory_gb: Math.round(totalmem() / 2 ** 30),
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
  };
  writeFileSync(
    file,
    `${JSON.stringify({ at, machine, requests, connections, months, summary, rounds: results }, null, 2)}\n`,
  );
  say(`\nWritten to ${file}`);
}

await main();
