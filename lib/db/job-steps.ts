import { setTimeout as wait } from "node:timers/promises";
import { isContention } from "./transaction";

/** Waits 50 to 150 ms after a conflict with another transaction, so that the other can end and two jobs do not collide again. */
export async function pauseAfterConflict(): Promise<void> {
  await wait(50 + Math.random() * 100);
}

/**
 * Runs the steps of a job, each in a transaction of its own, until one finds nothing to do. After a conflict with another transaction,
 * the step is run again after a pause.
 * @param step returns how much it changed; null if there is nothing to do
 * @param mayRun whether a further step may run, after `steps` of them; by default any number
 * @returns how much all steps changed
 * @throws the error of a step that failed for another reason
 */
export async function runSteps(
  step: () => Promise<number | null>,
  mayRun: (steps: number) => boolean = () => true,
): Promise<number> {
  let total = 0;
  for (let steps = 0; mayRun(steps); steps += 1) {
    try {
      const changed = await step();
      if (changed === null) break;
      total += changed;
    } catch (error) {
      if (!isContention(error)) throw error;
      await pauseAfterConflict();
    }
  }
  return total;
}
