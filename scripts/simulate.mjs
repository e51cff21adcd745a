// Simulates processes, clients, crashes and time from seeds: `npm run simulate -- --minutes 10 --seed 7`. `--faults` plants faults and
// reports which the simulation finds, each within `--minutes` (0.75 by default), two at a time; `--faults 3 4` plants some. See
// tests/simulation/README.md.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { parseArgs, stripVTControlCharacters } from "node:util";
import { root } from "./root.mjs";

const { values, positionals } = parseArgs({
  options: { minutes: { type: "string" }, seed: { type: "string" }, faults: { type: "boolean" } },
  allowPositionals: true,
});
const { minutes, seed = process.env.SEED, faults } = values;
const settings = {
  ...(minutes !== undefined && { SIMULATION_MINUTES: minutes }),
  ...(seed !== undefined && { SEED: seed }),
};
process.exitCode = faults ? await plantFaults() : await simulate(settings, "inherit");

/**
 * Runs the simulation.
 * @param onLine is called with each line of its output, which is printed if it is "inherit"
 * @returns its exit code
 */
async function simulate(env, onLine) {
  const args = [
    "--config",
    "vitest.simulation.config.ts",
    "--disable-console-intercept",
    "--reporter",
    "dot",
  ];
  const child = spawn(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...args], {
    cwd: root,
    stdio: ["ignore", onLine === "inherit" ? "inherit" : "pipe", "inherit"],
    env: { ...process.env, ...env },
  });
  if (child.stdout) createInterface({ input: child.stdout }).on("line", onLine);
  return new Promise((resolve) => child.once("close", (code) => resolve(code ?? 1)));
}

/** Plants faults in two processes and prints what was found. @returns an exit code: 0 if every fault could be planted */
async function plantFaults() {
  const began = performance.now();
  const results = [];
  const rest = [];
  const codes = await Promise.all(
    [0, 1].map((half) =>
      simulate({ ...settings, SIMULATION_FAULTS: positionals.join(","), SIMULATION_HALF: half }, (line) => {
        const [result] = /\d+\. .+: (not )?found .*/.exec(stripVTControlCharacters(line)) ?? [];
        if (result) console.log(result);
        if (result) results.push(result);
        else rest.push(line);
      }),
    ),
  );
  if (codes.some((code) => code !== 0)) console.log(rest.join("\n"));
  const found = results.filter((line) => / found with seed /.test(line)).length;
  const took = Math.round((performance.now() - began) / 1000);
  console.log(`Found ${found} of ${results.length} planted faults in ${took} s.`);
  return codes.find((code) => code !== 0) ?? 0;
}
