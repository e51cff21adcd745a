/*
 * `npm run test:emitters`: real emitters call a mock of the providers and tell a really started service about it. The
 * service's ledger must have exactly the calls that the mock answered, and their cost to the last digit. Ends with a table. Not
 * part of `npm test`.
 *
 *   npm run test:emitters -- [--install] [--save FOLDER] [--write] [NAME…]
 *
 * An emitter whose tools are not there is skipped; `--install` installs them (`stage/tools.mjs` says where). NAME is a file of
 * this folder, for example `claude-code`. `--save` keeps what was sent. `--write` puts the rows of the emitters that passed into
 * docs/guides/emitters.md.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { seed } from "./stage/answers.mjs";
import { compareCalls, tableHead, tableRow, withoutCut } from "./stage/compare-calls.mjs";
import { startProviders } from "./stage/providers.mjs";
import { relayTo } from "./stage/relay.mjs";
import { root } from "./stage/root.mjs";
import { startService } from "./stage/service.mjs";
import { findVersions, installTools, placePrograms, toolsFolder } from "./stage/tools.mjs";

const { values, positionals } = parseArgs({
  options: { install: { type: "boolean" }, save: { type: "string" }, write: { type: "boolean" } },
  allowPositionals: true,
});
/** Scripts that are run by hand, with arguments of their own. */
const isByHand = (name) => ["main", "claude-code-kills"].includes(name);

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
/** The rows of the emitters that passed, by name. */
const rows = new Map();
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
console.log(`\n${[...tableHead, ...rows.values()].join("\n")}\n\nSEED=${seed} repeats the counts.`);
if (values.write) writeTable();
console.log(`emitters: ${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed > 0 ? 1 : 0;

/**
 * Runs an emitter and compares the ledger with what the mock answered. `told` is what an emitter says of a call, where it says
 * less than the provider; `inexact` is why its cost is not the provider's then; `refuses: false` for programs that do not try again.
 * @returns passed, failed or skipped
 */
async function tryEmitter({ name, packages, skip, run, told = (call) => [call], inexact, refuses }) {
  const { versions: found, missing } = findVersions(packages);
  const reason = missing ? `needs ${missing.join(", ")} in ${toolsFolder}: add --install` : skip?.();
  if (reason) {
    console.log(`- ${name}: skipped, ${reason}`);
    return "skipped";
  }
  const versions = Object.entries(found)
    .map(([of, version]) => `${of.replace(/^python:[^/]+\//, "")} ${version}`)
    .join(", ");
  const folder = mkdtempSync(join(tmpdir(), "outlay-emitter-"));
  const providers = await startProviders({ refuses });
  const workspace = await service.openWorkspace();
  const relay = values.save && (await relayTo(workspace, { folder: folderOf(name) }));
  try {
    const source = relay ? relay.source : workspace;
    const output = await run({ providers: providers.url, source, folder, program });
    const { whole, kept, cut } = withoutCut(providers.answered, await workspace.readCalls());
    const difference = compareCalls(whole.flatMap(told), kept);
    const { row, isSameCost } = tableRow({ name, versions, answered: whole, recorded: kept, cut, inexact });
    if (difference === undefined && (isSameCost || inexact)) {
      console.log(`✓ ${name}: ${whole.length} calls (${versions})${isSameCost ? "" : `; ${inexact}`}`);
      rows.set(name, row);
      return "passed";
    }
    const why = difference ?? `  The calls are right, and their cost is not.\n${row}`;
    console.log(`✗ ${name} (${versions})\n${why}\n${String(output ?? "").slice(-2000)}`);
  } catch (error) {
    console.log(`✗ ${name} (${versions})\n${error.stack}`);
  } finally {
    await relay?.close();
    await providers.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return "failed";
}

/** Where what a trial sends is kept. */
function folderOf(name) {
  const folder = join(values.save, name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-"));
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Writes the rows into the guide's table; those of emitters that were not run now stay. */
function writeTable() {
  const path = join(root, "docs/guides/emitters.md");
  const guide = readFileSync(path, "utf8");
  const [before, written = ""] = guide.split(`${tableHead.join("\n")}\n`);
  const end = written.search(/^(?!\|)/m);
  for (const row of written.slice(0, end).trim().split("\n")) {
    const name = row.split(" | ")[0].slice(2);
    if (row !== "" && !rows.has(name)) rows.set(name, row);
  }
  const sorted = [...rows].sort(([a], [b]) => a.localeCompare(b, "en")).map(([, row]) => row);
  const table = [...tableHead, ...sorted].join("\n");
  writeFileSync(path, `${before}${table}\n${written.slice(end)}`);
}
