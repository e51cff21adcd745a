import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { projectRoot } from "@/tests/helpers/project-root";
import { withPages } from "@/tests/helpers/service";
import { budgetsPart } from "./budgets";
import { bulkPart } from "./bulk";
import { dashboardPart } from "./dashboard";
import { histories } from "./history";
import { hostileFigures, measureHostile } from "./hostile";
import { ingestPart } from "./ingest";
import { isolationPart } from "./isolation";
import { lateFigures, measureLate } from "./late";
import { latencyPart } from "./latency";
import { connections } from "./load";
import { observabilityPart } from "./observability";
import { type Part, runPart } from "./part";
import { measureQueue, queueFigures } from "./queue";
import { readsPart } from "./reads";
import { type Figure, formatTable, type Round, type Summary, summarise } from "./report";
import { reservationsPart } from "./reservations";
import { spansPart } from "./spans";
import { months, setStage } from "./stage";
import { setReadsStage } from "./ten-million/stage";
import { workersPart } from "./workers";

const { values: options } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    requests: { type: "string", default: "8000" },
    part: { type: "string", default: "all" },
    attack: { type: "string" },
    json: { type: "string" },
    postings: { type: "string", default: "10000000" },
    data: { type: "string" },
  },
});
const rounds = Number(options.rounds);
const requests = Number(options.requests);
// `reads`, `late` and `hostile` run only if they are named: filling the database of the first two takes some minutes, and the
// last one overloads the machine on purpose.
const parts = [
  "all",
  "ingest",
  "bulk",
  "latency",
  "dashboard",
  "isolation",
  "hostile",
  "observability",
  "workers",
  "spans",
  "budgets",
  "reservations",
  "queue",
  "reads",
  "late",
];
if (!parts.includes(options.part)) throw new Error(`--part is one of ${parts.slice(1).join(", ")}`);

async function main(): Promise<void> {
  const say = (text: string) => process.stdout.write(`${text}\n`);
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
  const run = async <Name extends string>(name: string, part: Part<Name>, postgresPid: () => number) => {
    if (interrupted || !wants(name)) return;
    say(`${name}: warming up; then ${rounds} rounds of ${requests} requests on ${connections} connections`);
    const done = await runPart(part, { rounds, postgresPid, isInterrupted: () => interrupted, say });
    report(name, part.figures, done);
  };
  const report = <Name extends string>(name: string, figures: Figure<Name>[], done: Round<Name>[]) => {
    if (done.length === 0) return;
    const summary = summarise(figures, done);
    say(`\nMedian of ${done.length} rounds (least to most):\n${formatTable(summary)}\n`);
    summaries[name] = summary;
    results[name] = done;
  };
  if (wants("queue")) report("queue", queueFigures, await measureQueue(rounds, say));
  if (["reads", "late"].includes(options.part)) {
    const settings = options.part === "reads" ? withPages : {};
    const stage = await setReadsStage(Number(options.postings), options.data, settings, say);
    try {
      if (wants("late")) {
        const how = { rounds, requests, isInterrupted: () => interrupted, say };
        report("late", lateFigures, await measureLate(stage, how));
      }
      await run("reads", readsPart(stage, requests), stage.postgresPid);
    } finally {
      await stage.stop();
    }
  } else if (options.part !== "queue") {
    const stage = await setStage({
      bare: join(projectRoot, "dist/bench/bare.mjs"),
      floor: join(projectRoot, "dist/bench/floor.mjs"),
    });
    const { postgresPid } = stage;
    try {
      await run("ingest", ingestPart(stage, requests), postgresPid);
      await run("bulk", bulkPart(stage, requests), postgresPid);
      await run("latency", await latencyPart(stage, requests), postgresPid);
      if (wants("dashboard")) await run("dashboard", await dashboardPart(stage, requests), postgresPid);
      await run("isolation", await isolationPart(stage, requests, options.attack), postgresPid);
      if (options.part === "hostile") {
        const done = await measureHostile(stage, { rounds, say, isInterrupted: () => interrupted });
        report("hostile", hostileFigures, done);
      }
      if (wants("observability")) {
        await run("observability", await observabilityPart(stage, requests), postgresPid);
      }
      await run("spans", spansPart(stage, requests), postgresPid);
      if (wants("budgets")) await run("budgets", await budgetsPart(stage, requests), postgresPid);
      if (wants("reservations")) {
        await run("reservations", await reservationsPart(stage, requests), postgresPid);
      }
      if (wants("workers")) await run("workers", await workersPart(stage, requests), postgresPid);
    } finally {
      await stage.stop();
    }
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
