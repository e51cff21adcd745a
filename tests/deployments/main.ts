import { spawnSync } from "node:child_process";
import { stopAll } from "./machine";
import { oneMachine } from "./one-machine";
import { ownPostgres } from "./own-postgres";
import { replica } from "./replica";
import { severalProcesses } from "./several-processes";

/** `npm run test:deployments [-- NAME…]`: each runs a part of docs/deploy.md as it stands there. */
const deployments = {
  "one-machine": oneMachine,
  "own-postgres": ownPostgres,
  "several-processes": severalProcesses,
  replica,
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in deployments));
if (unknown.length > 0)
  throw new Error(
    `There is no deployment ${unknown.join(", ")}, only ${Object.keys(deployments).join(", ")}.`,
  );
const missing = [
  "nginx",
  "pgbouncer",
  "sudo",
  "/usr/lib/postgresql/15/bin/postgres",
  "setpriv",
  "openssl",
].filter((program) => spawnSync("bash", ["-c", `command -v ${program}`]).status !== 0);
if (process.getuid?.() !== 0 || missing.length > 0)
  throw new Error(
    `This needs root on Debian 12 and: apt-get install nginx pgbouncer postgresql-15 sudo. Missing: ${missing.join(", ") || "root"}.`,
  );

const results: string[] = [];
for (const [name, run] of Object.entries(deployments)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  process.stdout.write(`${name}\n`);
  try {
    await run();
    results.push(`| ${name} | works as written |`);
  } catch (error) {
    process.stdout.write(`${(error as Error).stack}\n`);
    results.push(`| ${name} | FAILED: ${(error as Error).message.split("\n")[0]} |`);
    process.exitCode = 1;
  } finally {
    await stopAll();
  }
}
process.stdout.write(`\n${results.join("\n")}\n`);
process.exit();
