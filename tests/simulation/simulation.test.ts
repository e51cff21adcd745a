import { randomInt } from "node:crypto";
import { expect, test } from "vitest";
import { bundleProduct } from "./bundle";
import { createSimulated } from "./database";
import { type Outcome, runEpisode } from "./episode";
import { type Fault, faults } from "./faults";

const { SEED, SIMULATION_MINUTES, SIMULATION_FAULTS, SIMULATION_HALF } = process.env;
const limitMs = (minutes: number) => Number(SIMULATION_MINUTES ?? minutes) * 60_000;

/** The seeds of a run without settings: two that stay, and one by chance. */
const seedsOfTests = [3, 4, randomInt(1_000, 1_000_000)];

test.runIf(SIMULATION_FAULTS === undefined)(
  "Loses nothing, counts nothing twice and keeps every limit, in whatever order things happen",
  { timeout: 0 },
  async () => {
    const [boot, template] = [await bundleProduct(), await createSimulated([])];
    const seeds = SEED === undefined ? seedsOfTests : SEED.split(",").map(Number);
    const failed: string[] = [];
    const until = performance.now() + limitMs(0);
    for (let seed = seeds.shift(); seed !== undefined; ) {
      const outcome = await runEpisode(seed, template, boot);
      console.log(describeOutcome(outcome));
      if (outcome.failure) failed.push(describeOutcome(outcome));
      seed = seeds.shift() ?? (performance.now() < until ? seed + 1 : undefined);
    }
    await template.drop();
    expect(failed).toEqual([]);
  },
);

test.runIf(SIMULATION_FAULTS !== undefined)("Finds planted faults", { timeout: 0 }, async () => {
  const wanted = SIMULATION_FAULTS
    ? SIMULATION_FAULTS.split(",").map(Number)
    : faults.map((_, index) => index + 1);
  for (const [index, number] of wanted.entries()) {
    if (index % 2 !== Number(SIMULATION_HALF)) continue;
    const fault = faults[number - 1];
    if (!fault) throw new Error(`There is no fault ${number}.`);
    const began = performance.now();
    const { failure, seed } = await search(fault);
    const what = failure ? `found with seed ${seed}: ${failure.message}` : `not found in ${seed} seeds`;
    console.log(`${number}. ${fault.name}: ${what} (${Math.round((performance.now() - began) / 1000)} s)`);
  }
});

/** Plants a fault and simulates until it is found, or the time is over. */
async function search({ source = [], sql = [] }: Fault): Promise<Outcome> {
  const [boot, template] = [await bundleProduct(source), await createSimulated(sql)];
  const until = performance.now() + limitMs(0.75);
  for (let seed = 1; ; seed += 1) {
    const outcome = await runEpisode(seed, template, boot);
    if (!outcome.failure && performance.now() < until) continue;
    await template.drop();
    return outcome;
  }
}

function describeOutcome({ seed, steps, order, disturbances, seconds, failure, trace }: Outcome): string {
  const head = `Seed ${seed}: ${steps} steps (${order}) in ${seconds.toFixed(1)} s, ${disturbances} crashes and lost connections.`;
  if (!failure) return head;
  return `${head}\n${failure.stack}\nThe last steps:\n${trace.slice(-40).join("\n")}\nAgain: npm run simulate -- --seed ${seed}`;
}
