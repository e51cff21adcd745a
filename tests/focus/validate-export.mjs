/*
 * `npm run test:focus`: a really started service exports its demo workspace, with further messages of every kind, as FOCUS 1.2, and
 * the checker of the FinOps Foundation, `focus-validator`, finds nothing but what is explained below. Not part of `npm test`.
 *
 * Needs Python 3.12, named by PYTHON or found as `python3.12`. The checker is installed by `requirements.txt` into the temporary folder
 * and reaches no network when it runs.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { parse } from "csv-parse/sync";
import { startService } from "../emitters/stage/service.mjs";

const execute = promisify(execFile);
const python = process.env.PYTHON ?? "python3.12";
const tools = join(tmpdir(), "outlay-focus-tools");
const bin = (name) => join(tools, "venv", process.platform === "win32" ? "Scripts" : "bin", name);
const version = "1.2.0.1";

/** What the ledger has, of what is conditional in FOCUS. It has no list of unit prices, commitments, regions or capacity. */
const criteria = [
  "ACCOUNT_NAMING_SUPPORTED",
  "SUB_ACCOUNT_SUPPORTED",
  "TAGGING_SUPPORTED",
  "USAGE_MEASUREMENT_SUPPORTED",
  "RESOURCE_TYPE_ASSIGNMENT_SUPPORTED",
];

/** Rules that the checker applies to more rows than the specification does. Each is explained, and `holds` checks what is meant. */
const wider = {
  // "When the charge is associated with an invoice": the ledger has none, and the other branch, InvoiceId-C-004-C, holds for all rows.
  "InvoiceId-C-005-C": (rows) => rows.every((row) => row.InvoiceId === ""),
  // "And the purchase is intended to cover future eligible charges": no cost of a purchase is distributed over other rows.
  "EffectiveCost-C-005-C": (rows) =>
    rows.every((row) => row.ChargeCategory !== "Purchase" || row.EffectiveCost === row.BilledCost),
};

if (!existsSync(bin("focus-validator"))) {
  console.log(`Installing focus-validator into ${tools} …`);
  mkdirSync(tools, { recursive: true });
  await execute(python, ["-m", "venv", join(tools, "venv")]);
  const requirements = new URL("requirements.txt", import.meta.url).pathname;
  await execute(bin("python"), ["-m", "pip", "install", "--quiet", "-r", requirements]);
}
// Otherwise it downloads the currencies.
mkdirSync(join(tools, "focus_validator/rules"), { recursive: true });
writeFileSync(join(tools, "focus_validator/rules/currency_codes.csv"), "currency_codes\nUSD\n");

const service = await startService();
try {
  const demo = await service.openDemo();
  await record(demo);
  const file = await download(demo);
  const rows = parse(file, { columns: true });
  for (const column of ["BilledCost", "EffectiveCost", "ContractedCost"])
    console.log(`${column}: ${sumOf(rows, column)} in ${rows.length} rows`);
  writeFileSync(join(tools, "export.csv"), file);
  const said = await validate("export.csv");
  console.log(/^Total: .*$/m.exec(said)?.[0]);
  const failed = [...said.matchAll(/^\S+ (\S+): FAIL +\((.*)\)$/gm)];
  if (!/^Total: \d+ \| Pass: [1-9]/m.test(said)) throw new Error(said.slice(-4000));
  for (const [, rule, why] of failed) {
    const isExplained = wider[rule]?.(rows) ?? false;
    console.log(`${isExplained ? "explained" : "FINDING"} ${rule}: ${why}`);
    if (!isExplained) process.exitCode = 1;
  }
  const findings = failed.filter(([, rule]) => !wider[rule]?.(rows)).length;
  console.log(`focus-validator ${version}: ${findings} findings`);
} finally {
  await service.stop();
}

/** Records what the demo lacks: corrections, voids, currencies, batches, whole amounts, formulas, included usage, a yearly subscription. */
async function record({ url, key, token }) {
  const post = async (path, body, credential = key) => {
    const response = await fetch(`${url}/api/v1/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${credential}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${JSON.stringify(answer)}`);
    return answer;
  };
  const send = (message, project = "search") => post("messages", { project, source: "api", message });
  const usage = { type: "usage", provider: "openai", model: "gpt-4o", unit_type: "input_tokens" };
  await send({
    ...usage,
    quantity: 1_000,
    label: '=HYPERLINK("x")',
    tags: { team: 'says "hi", \\ and more' },
  });
  await send({ ...usage, quantity: 1e-12, unit_type: "web_search_10k" });
  await send({ ...usage, model: "nobody-prices-this", quantity: 5 });
  await send({ ...usage, quantity: 400_000, included: true });
  const line = { model: "m", unit_type: "requests", quantity: 2, estimated_cost: 0.25 };
  await send({ type: "batch", provider: "openai", batch_id: "b", items: [line, { ...line, model: "n" }] });
  const expense = { type: "expense", vendor: "Figma", amount: 28_600, currency: "JPY" };
  const { id } = await send(expense);
  await post(`workspaces/demo/messages/${id}/void`, { reason: "Told twice" }, token);
  const { id: wrong } = await send({ type: "expense", vendor: "Linear", amount: 7 });
  const right = { type: "expense", vendor: "Linear", amount: 8 };
  await post(
    `workspaces/demo/messages/${wrong}/correct`,
    { project: "search", reason: "Misread", message: right },
    token,
  );
  const day = new Date(Date.now() - 400 * 86_400_000).toISOString().slice(0, 10);
  await send({ type: "expense", vendor: "Late invoice", amount: 9, occurred_at: `${day}T00:00:00Z` });
  await send({ type: "subscription", vendor: "Linear", amount: 100, interval: "year", starts_on: day });
  await send({ type: "allocation", from_project: "search", amount: 0.4 }, "research");
  // What bills and records differ by, booked as an adjustment.
  const month = new Date(Date.now() - 40 * 86_400_000).toISOString().slice(0, 7);
  await post("workspaces/demo/bill-adjustments", { month, project: "search" }, token);
}

async function download({ url, token }) {
  const response = await fetch(`${url}/api/v1/workspaces/demo/export?period=all&format=focus`, {
    headers: { authorization: `Bearer ${token}` },
  });
  if (!response.ok) throw new Error(`The export answered ${response.status}: ${await response.text()}`);
  return response.text();
}

/** Runs the checker. @returns what it says; it ends with 1 where a rule fails */
async function validate(file) {
  const args = ["--data-file", file, "--validate-version", version, "--block-download"];
  try {
    const run = [...args, "--applicability-criteria", criteria.join(","), "--show-violations"];
    const { stdout } = await execute(bin("focus-validator"), run, {
      cwd: tools,
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout;
  } catch (error) {
    if (error.stdout) return error.stdout;
    throw error;
  }
}

/** The exact sum of a column, whose cells have at most 18 decimals. */
function sumOf(rows, column) {
  const places = 18;
  const total = rows.reduce((sum, row) => {
    const [whole, decimals = ""] = row[column].split(".");
    return sum + BigInt(whole + decimals.padEnd(places, "0"));
  }, 0n);
  const digits = String(total < 0n ? -total : total).padStart(places + 1, "0");
  return `${total < 0n ? "-" : ""}${digits.slice(0, -places)}.${digits.slice(-places)}`;
}
