import type { TestDatabase } from "@/tests/helpers/cluster";
import { hang, sweep, work } from "./alert-operations";
import type { Boot } from "./bundle";
import { checkAll, checkFolds, checkLimits, checkSums } from "./checks";
import {
  bringHistory,
  bulk,
  correct,
  overspend,
  post,
  raiseLimit,
  reserve,
  restartNumbers,
  subscribe,
} from "./ledger-operations";
import { callTool, deleteAccount, invite, readLimits, readPages } from "./people-operations";
import { Simulation } from "./simulation";
import {
  deliverUnreadable,
  meter,
  refuseAndReplay,
  report,
  reportLate,
  reportLatest,
  restartCalls,
} from "./telemetry-operations";
import { day, dayMs, hourMs, makeTeam, refresh, type Team } from "./world";

/** What clients do, with how often. */
const operations: [number, (simulation: Simulation, team: Team) => Promise<void>][] = [
  [8, post],
  [2, overspend],
  [4, bulk],
  [2, subscribe],
  [7, correct],
  [4, reserve],
  [1, raiseLimit],
  [6, report],
  [6, reportLate],
  [4, meter],
  [1, refuseAndReplay],
  [1, deliverUnreadable],
  [2, invite],
  [2, deleteAccount],
  [3, callTool],
  [1, readLimits],
  [12, work],
];
const deck = operations.flatMap(([times, operation]) => Array.from({ length: times }, () => operation));

/** What matters most while midnight passes: what changes past days. */
const late = [post, bulk, correct, correct, correct, reserve, readLimits];

/** What happens once in an episode, in its first phases. */
const once = [hang, sweep];
/** What is done when a phase ends and nothing goes wrong any more. */
const last = [readLimits, readPages, callTool];

const starts = [
  "2026-11-24T09:00:00Z",
  "2026-11-28T20:00:00Z",
  "2027-02-26T12:00:00Z",
  "2028-02-27T06:00:00Z",
  "2026-12-29T22:00:00Z",
  "2027-03-26T23:00:00Z",
];
const phases = 7;

/** The outcome of an episode. */
export type Outcome = {
  seed: number;
  steps: number;
  /** Equal for two runs in which everything happened in the same order. */
  order: string;
  seconds: number;
  disturbances: number;
  failure?: Error;
  trace: string[];
};

/** A team's days, as one seed determines them: bursts of work, and time that passes in between. */
export async function runEpisode(seed: number, template: TestDatabase, boot: Boot): Promise<Outcome> {
  restartNumbers();
  restartCalls();
  const start = Date.parse(starts[seed % starts.length] as string);
  const simulation = await Simulation.open(seed, template, boot, start);
  const { random, scheduler } = simulation;
  const began = performance.now();
  const outcome = (): Outcome => ({
    seed,
    steps: scheduler.steps,
    order: scheduler.order,
    seconds: (performance.now() - began) / 1000,
    disturbances: simulation.disturbances,
    trace: scheduler.trace,
  });
  try {
    const team = await makeTeam(simulation);
    // Otherwise the months are folded one by one, by whichever job comes first.
    const isFoldedWhole = random.chance(0.5);
    await simulation.run(bringHistory(simulation, team));
    if (isFoldedWhole) await checkFolds(simulation);
    const phaseOf = new Map(once.map((operation) => [operation, random.int(0, 2)]));
    for (let phase = 0; phase < phases; phase += 1) {
      const isMidnight = random.chance(0.6);
      if (isMidnight) await scheduler.advance(Math.max(untilMidnight(simulation.now) - hourMs / 4, 0));
      await refresh(simulation, team.owner, team.guest);
      if (isMidnight)
        await scheduler.advance(Math.max(untilMidnight(simulation.now) - random.int(20, 2_500), 0));
      simulation.processes.isCalm = random.chance(0.2);
      for (const operation of once)
        if (phaseOf.get(operation) === phase) simulation.spawn(operation.name, operation(simulation, team));
      const count = random.int(6, 22);
      for (let index = 0; index < count; index += 1) {
        const operation = random.pick(isMidnight && random.chance(0.4) ? late : deck);
        simulation.spawn(operation.name, operation(simulation, team));
        for (let steps = random.int(0, 12); steps > 0; steps -= 1) await step(simulation, team);
      }
      while (simulation.isRunning) await step(simulation, team);
      simulation.processes.isCalm = true;
      for (const operation of last) simulation.spawn(operation.name, operation(simulation, team));
      while (simulation.isRunning) await step(simulation, team);
      await simulation.run(simulation.job("watch_budgets"));
      await checkFolds(simulation);
      await checkAll(simulation, team);
      await pass(simulation);
      await simulation.run(reportLatest(simulation, team));
    }
    return outcome();
  } catch (error) {
    return { ...outcome(), failure: error instanceof Error ? error : new Error(String(error)) };
  } finally {
    await simulation.close().catch(() => {});
  }
}

/**
 * A step, and what is checked after it. Midnight likes to pass while a process has written and not committed; past days are folded
 * while others go on.
 */
async function step(simulation: Simulation, team: Team): Promise<void> {
  const { now, processes, random, scheduler } = simulation;
  const writing = processes.writing;
  if (writing && untilMidnight(now) < 3_000 && random.chance(0.3))
    await scheduler.advance(untilMidnight(now));
  else await simulation.tick();
  if (day(simulation.now) !== day(now)) {
    // What a process began on the day before ends after others have folded it.
    scheduler.stand(processes.writing ?? processes.pick(), 60);
    simulation.spawn("fold", simulation.job("fold_past_days"));
  }
  await look(simulation, team);
}

async function look(simulation: Simulation, team: Team): Promise<void> {
  if (simulation.random.chance(0.05)) await checkLimits(simulation, team);
  if (simulation.random.chance(0.01)) await checkSums(simulation, team);
}

const untilMidnight = (now: number) => dayMs - (now % dayMs);

/** Time passes: minutes, hours, or a day, with the jobs that run meanwhile. */
async function pass(simulation: Simulation): Promise<void> {
  const { random, scheduler } = simulation;
  await scheduler.advance(random.pick([600_000, hourMs, 3 * hourMs, 9 * hourMs, dayMs]));
  for (const job of [
    "deliver",
    "queue_due",
    "sweep_old_records",
    "judge_budgets",
    "book_subscriptions",
    "deliver",
  ]) {
    await simulation.run(simulation.job(job));
    await simulation.run(scheduler.sleep(1_000));
  }
}
