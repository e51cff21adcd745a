/*
 * `npm run test:emitters`: real emitters call a mock of the providers and tell a really started service about it. The
 * service's ledger must have exactly the calls that the mock answered, and their cost to the last digit. Ends with a table. Not
 * part of `npm test`.
 *
 *   npm run test:emitters -- [--install] [NAME…]
 *
 * An emitter whose tools are not there is skipped; `--install` installs them (`stage/tools.mjs` says where). NAME is a file of
 * this folder, for example `claude-code`.
 */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { compareCalls, tableHead, tableRow } from "./stage/compare-calls.mjs";
import { seed, startProviders } from "./stage/providers.mjs";
import { root } from "./stage/root.mjs";
import { startService } from "./stage/service.mjs";
import { findVersions, installTools, placePrograms, toolsFolder } from "./stage/tools.mjs";

const { values, positionals } = parseArgs({
  options: { install: { type: "boolean" } },
  allowPositionals: true,
});
/** Scripts that are run by hand, with arguments of their own. */
const isByHand = (name) => ["main", "litellm", "claude-code-kills"].includes(name);

const all = readdirSync(join(root, "tests/emitters"))
  .flatMap((file) => (file.endsWith(".mjs") ? [file.slice(0, -4)] : []))
  .filter((name) => !isByHand(name));
const unknown = positionals.filter((name) => !all.includes(name));
if (unknown.length > 0)
  throw new Error(`There is no emitter ${unknown.join(", ")}; there are ${all.join(", ")}.`);

if (values.install) {
  console.log(`Installing into ${toolsFolder} …`);
  await installTools();
}
const table = [...tableHead];
const total = { passed: 0, failed: 0, skipped: 0 };
const program = placePrograms();
const service = await startService();
try {
  for (const name of positionals.length > 0 ? positionals : all) {
    const { default: trials } = await import(`./${name}.mjs`);
    for (const trial of trials) total[await tryEmitter(trial)] += 1;
  }
} finally {
  await service.stop();
}
console.log(`\n${table.join("\n")}\n\nSEED=${seed} repeats the counts.`);
console.log(`emitters: ${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed > 0 ? 1 : 0;

/**
 * Runs an emitter and compares the ledger with what the mock answered. `told` is what an emitter says of a call, where it says
 * less than the provider; `inexact` is why its cost is not the provider's then; `refuses: false` for programs that do not try again.
 * @returns passed, failed or skipped
 */
async function tryEmitter({ name, packages, skip, run, told = (call) => [call], inexact, refuses }) {
  const { versions, missing } = findVersions(packages);
  const reason = missing ? `needs ${missing.join(", ")} in ${toolsFolder}: add --install` : skip?.();
  if (reason) {
    console.log(`- ${name}: skipped, ${reason}`);
    return "skipped";
  }
  const tried = Object.entries(versions)
    .map(([of, version]) => `${of.replace("python:", "")} ${version}`)
    .join(", ");
  const folder = mkdtempSync(join(tmpdir(), "outlay-emitter-"));
  const providers = await startProviders({ refuses });
  try {
    const source = await service.openWorkspace();
    const output = await run({ providers: providers.url, source, folder, program });
    const recorded = await source.readCalls();
    const { row, isSameCost } = tableRow(name, tried, providers.answered, recorded);
    table.push(row);
    const difference =
      compareCalls(providers.answered.flatMap(told), recorded) ??
      (isSameCost || inexact ? undefined : "  The calls are right, and their cost is not.");
    if (difference === undefined) {
      console.log(
        `✓ ${name}: ${providers.answered.length} calls (${tried})${isSameCost ? "" : `; ${inexact}`}`,
      );
      return "passed";
    }
    console.log(`✗ ${name} (${tried})\n${difference}\n${String(output ?? "").slice(-2000)}`);
  } catch (error) {
    console.log(`✗ ${name} (${tried})\n${error.stack}`);
  } finally {
    await providers.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return "failed";
}
