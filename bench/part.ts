import { treeCpuMs } from "./cpu";
import { type Call, type Pace, runLoad } from "./load";
import type { Figure, Measurement, Round } from "./report";
import type { Contender } from "./stage";

/** A contender in a round: its server and its requests. */
type Task<Name> = {
  name: Name;
  server: Contender;
  count: number;
  call: (index: number) => Call;
  pace?: Pace;
  /** Computes the pace from the results of earlier contenders of the round. */
  paceOf?: (round: Partial<Round<string>>) => Pace;
  /** Requests before the first round; by default half of `count`. */
  warmUp?: number;
  /** A load in the background: starts it and resolves with a function that stops it. */
  meanwhile?: () => Promise<() => Promise<void>>;
};

/** A measurement: its contenders in the order of a round, and the figures computed from the rounds. */
export type Part<Name extends string> = { contenders: Task<Name>[]; figures: Figure<Name>[] };

/** `isInterrupted` ends the part after the present load. `say` prints a line. */
export type RunOptions = {
  rounds: number;
  postgresPid: () => number;
  isInterrupted: () => boolean;
  say: (text: string) => void;
};

/**
 * Runs the contenders in turn, round after round, so that other work of the machine affects all of them equally.
 * @returns the finished rounds
 */
export async function runPart<Name extends string>(
  { contenders: tasks }: Part<Name>,
  { rounds, postgresPid, isInterrupted, say }: RunOptions,
): Promise<Round<Name>[]> {
  const contenders = tasks.map((task) => ({ ...task, count: Math.max(1, Math.round(task.count)) }));
  for (const { server, count, call, pace, warmUp = Math.ceil(count / 2) } of contenders) {
    if (!isInterrupted()) await runLoad(server.baseUrl, warmUp, call, pace);
  }
  const results: Round<Name>[] = [];
  while (results.length < rounds && !isInterrupted()) {
    const round: Partial<Round<Name>> = {};
    for (const { name, ...task } of contenders) {
      if (isInterrupted()) break;
      const pace = task.paceOf?.(round as Partial<Round<string>>) ?? task.pace;
      round[name] = await measure({ ...task, ...(pace && { pace }) }, postgresPid());
    }
    if (isInterrupted()) break;
    results.push(round as Round<Name>);
    const costs = contenders.map(({ name }) => `${name} ${round[name]?.cpuMs.toFixed(3)}`);
    say(`round ${results.length}: ${costs.join(", ")} ms CPU`);
  }
  return results;
}

/** Runs one load, and measures the CPU time of its server and of Postgres for each request. */
export async function measure(
  { server, count, call, pace, meanwhile }: Omit<Task<string>, "name" | "warmUp">,
  postgresPid: number,
): Promise<Measurement> {
  const before = { own: treeCpuMs(server.pid), postgres: treeCpuMs(postgresPid) };
  const end = await meanwhile?.();
  const result = await runLoad(server.baseUrl, count, call, pace).finally(() => end?.());
  return {
    ...result,
    cpuMs: (treeCpuMs(server.pid) - before.own) / count,
    postgresCpuMs: (treeCpuMs(postgresPid) - before.postgres) / count,
  };
}
