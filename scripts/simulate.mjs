// Simulates processes, clients, crashes and time from seeds: `npm run simulate -- --minutes 10 --seed 7`. `--faults` plants faults and
// reports which the simulation finds, each within `--minutes` (1 by default); `--faults 3,4` plants some. See tests/simulation/README.md.
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { root } from "./root.mjs";

const { values, positionals } = parseArgs({
  options: { minutes: { type: "string" }, seed: { type: "string" }, faults: { type: "boolean" } },
  allowPositionals: true,
});
const { minutes, seed = process.env.SEED, faults } = values;
const { status } = spawnSync(
  "npx",
  [
    "vitest",
    "run",
    "--config",
    "vitest.simulation.config.ts",
    "--disable-console-intercept",
    "--reporter",
    "dot",
  ],
  {
    cwd: root,
    stdio: "inherit",
    env: {
      ...process.env,
      ...(minutes !== undefined && { SIMULATION_MINUTES: minutes }),
      ...(seed !== undefined && { SEED: seed }),
      ...(faults && { SIMULATION_FAULTS: positionals.join(",") }),
    },
  },
);
process.exitCode = status ?? 1;
