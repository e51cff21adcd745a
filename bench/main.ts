import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { projectRoot } from "@/tests/helpers/project-root";
import { dashboardPart } from "./dashboard";
import { histories } from "./history";
import { ingestPart } from "./ingest";
import { isolationPart } from "./isolation";
import { latencyPart } from "./latency";
import { connections } from "./load";
import { observabilityPart } from "./observability";
import { type Part, runPart } from "./part";
import { formatTable, type Summary, summarise } from "./report";
import { months, setStage } from "./stage";
import { workersPart } from "./workers";

const { values: options } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    requests: { type: "string", default: "8000" },
    part: { type: "string", default: "all" },
    attack: { type: "string" },
    json: { type: "string" },
  },
});
const rounds = Number(options.rounds);
const requests = Number(options.requests);
const parts = ["all", "ingest", "latency", "dashboard", "isolation", "observability", "workers"];
if (!parts.includes(options.part)) throw new Error(`--part is one of ${parts.slice(1).join(", ")}`);

async function main(): Promise<void> {
  const say = (text: string) => process.stdout.write(`${text}\n`);
  const stage = await setStage({
    bare: join(projectRoot, "dist/bench/bare.mjs"),
    floor: join(projectRoot, "dist/bench/floor.mjs"),
  });
  // A second signal ends the process at once; the servers notice the end of their parent process themselves.
  let interrupted = false;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      interrupted = true;
      say("stopping after this load …");
    });
  }
  const summaries: Record<string, Summary[]> = {};
  const results: Record<string, unknown> = {};
  const wants = (name: string) => ["all", name].includes(options.part);
  const run = async <Name extends string>(name: string, part: Part<Name>) => {
    if (interrupted || !wants(name)) return;
    say(`${name}: warming up; then ${rounds} rounds of ${requests} requests on ${connections} connections`);
    const { postgresPid } = stage;
    const done = await runPart(part, { rounds, postgresPid, isInterrupted: () => interrupted, say });
    if (done.length === 0) return;
    const summary = summarise(part.figures, done);
    say(`\nMedian of ${done.length} rounds (least to most):\n${formatTable(summary)}\n`);
    summaries[name] = summary;
    results[name] = done;
  };
  try {
    await run("ingest", ingestPart(stage, requests));
    await run("latency", await latencyPart(stage, requests));
    await run("dashboard", dashboardPart(stage, requests));
    await run("isolation", await isolationPart(stage, requests, options.attack));
    if (wants("observability")) await run("observability", await observabilityPart(stage, requests));
    if (wants("workers")) await run("workers", await workersPart(stage, requests));
  } finally {
    await stage.stop();
  }
  if (Object.keys(results).length === 0) return;
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
    `${JSON.stringify({ at, machine, requests, connections, months, histories, summary: summaries, rounds: results }, null, 2)}\n`,
  );
  say(`Written to ${file}`);
}

await main();
