import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { chooseMapping, MappingError } from "@/lib/ledger/import/fields";
import { toMessage } from "@/lib/ledger/import/message";
import { Poster } from "@/lib/ledger/import/poster";
import { ledgerDifferences } from "@/tests/helpers/harness";
import type { KeyOptions } from "@/tests/helpers/keys";
import { exact, show, total } from "@/tests/helpers/ledger/exact";
import { projectRoot } from "@/tests/helpers/project-root";
import { startScript } from "@/tests/helpers/script";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness();
const folder = mkdtempSync(join(tmpdir(), "outlay-import-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const runner = join(projectRoot, "scripts/run.mjs");
beforeAll(() => {
  // Where the build is of other sources the first run bundles the command; not within a test's own time.
  execFileSync(process.execPath, [runner, "import", "--help"], { env: { ...process.env, BASE_URL: "" } });
}, 60_000);

const write = (name: string, lines: string[]) => {
  const path = join(folder, name);
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
};

/** The command as a person runs it, with a key of a workspace of its own. */
async function newImport(options: KeyOptions = {}) {
  const workspace = await harness.fixtures.workspace();
  const { secret } = await harness.fixtures.key(workspace, options);
  const start = (path: string, ...args: string[]) =>
    startScript(runner, ["import", path, "--url", harness.services[0]?.baseUrl ?? "", ...args], {
      SVC_API_KEY: secret,
      BASE_URL: "",
    });
  const stored = async () => {
    const { rows } = await harness.fixtures.sql.query(
      "select count(*)::int as count, coalesce(sum(amount_usd), 0)::text as sum from public.messages where workspace_id = $1",
      [workspace],
    );
    return { count: rows[0].count as number, sum: show(exact(rows[0].sum)) };
  };
  return { workspace, start, stored };
}

describe("Importing 4,000 rows", () => {
  const count = 4_000;
  const costs = Array.from({ length: count }, (_, index) => `0.${String(index).padStart(6, "0")}1`);
  const sum = show(total(costs.map(exact)));

  test("Records each row once when killed and run again; a third run changes nothing", async () => {
    const path = write("many.csv", [
      "Project,Provider,Model,Unit,Quantity,Cost,Date",
      ...costs.map(
        (cost, index) => `p${index % 7},openai,gpt-4o,requests,1,${cost},2026-0${1 + (index % 9)}-15`,
      ),
    ]);
    const { start, stored } = await newImport();
    const first = start(path, "--yes", "--no-dry-run");
    await vi.waitUntil(async () => (await stored()).count > count / 5, { timeout: 60_000, interval: 10 });
    first.child.kill("SIGKILL");
    expect((await first.ended).status).toBeNull();
    const half = await stored();
    expect(half.count).toBeLessThan(count);

    const second = await start(path, "--yes", "--no-dry-run").ended;
    expect(second.output).toMatch(/4,000 rows: [\d,]+ recorded, [\d,]+ were before, 0 refused\./);
    expect(second.status).toBe(0);
    expect(await stored()).toEqual({ count, sum });

    const third = await start(path, "--yes", "--no-dry-run").ended;
    expect(third.output).toContain("4,000 rows: 0 recorded, 4,000 were before, 0 refused.");
    expect(await stored()).toEqual({ count, sum });
    expect(existsSync(`${path}.refused.csv`)).toBe(false);
  });
});

test("Shows its mapping and what would be refused, and records nothing in a trial", async () => {
  const { start, stored } = await newImport({ conditions: { deny_project_slugs: ["secret"] } });
  const path = write("mixed.csv", [
    "When;Team;Kind;Vendor;Total;Currency;Memo",
    "2026-03-01;alpha;expense;Figma;0.1;EUR;fine",
    "2026-03-02;Alpha Team;expense;Figma;1;USD;no slug",
    "2026-03-03;alpha;expense;Figma;1,000.50;USD;a comma",
    '2026-03-04;alpha;expense;Figma;12.50;JPY;"half a yen; and\na second line"',
    "2026-03-05;secret;expense;Figma;1;USD;not allowed",
    "2026-03-06;Beta Team;expense;Figma;1;USD;no slug either",
    "2026-03-07;alpha;expense;Figma;1;USD;too;many",
    "2026-03-08;alpha;expense;Figma;0.2;;no currency",
  ]);
  const args = ["--map", "occurred_at=When", "--project-column", "Team"];
  const trial = await start(path, ...args).ended;
  expect(trial.status).toBe(1);
  expect(trial.output).toMatch(/project +column Team/);
  expect(trial.output).toMatch(/notes +column Memo/);
  expect(trial.output).toContain("8 rows: 2 would be recorded, 6 would be refused.");
  expect(trial.output).toMatch(/2 × project: must be a slug[^\n]*\(lines 3, 8\)/);
  expect(trial.output).toMatch(/1 × amount: "1,000.50" is not a number[^\n]*\(line 4\)/);
  expect(trial.output).toMatch(/amounts in JPY have no decimals[^\n]*\(line 6\)/);
  expect(trial.output).toMatch(/project_not_allowed[^\n]*\(line 7\)/);
  expect(trial.output).toMatch(/the row has 8 columns, the header 7 \(line 9\)/);
  expect(trial.output).toContain("run it again with --yes");
  expect((await stored()).count).toBe(0);

  const done = await start(path, ...args, "--yes").ended;
  expect(done.output).toContain("8 rows: 2 recorded, 6 refused.");
  expect([done.status, (await stored()).count]).toEqual([1, 2]);
  const refused = readFileSync(`${path}.refused.csv`, "utf8");
  expect(refused.split("\n")[0]).toBe("line,reason,When,Team,Kind,Vendor,Total,Currency,Memo");
  expect(refused).toMatch(/\n3,[^\n]*slug[^\n]*,2026-03-02,Alpha Team,expense,Figma,1,USD,no slug\n/);
  expect(refused).toContain('"half a yen; and\na second line"');
});

test("Keeps every digit of JSON lines, finds nested names, and refuses a broken line once", async () => {
  const { start, stored, workspace } = await newImport();
  const path = write("rows.jsonl", [
    '{"project":"p","message":{"type":"usage","provider":"x","unit_type":"requests","quantity":1e-12,"estimated_cost":123456789012345.678901234567890123}}',
    '{"project":"p","message":{"type":"subscription","vendor":"v","amount":0.10,"interval":"month","starts_on":"2026-03-01"}}',
    "{broken",
    '{"project":"p","message":{"type":"expense","vendor":"v","amount":0.2},"occurred_at":1772323200}',
  ]);
  const { output, status } = await start(path, "--yes").ended;
  expect(output).toContain("4 rows: 3 recorded, 1 refused.");
  expect(output).toMatch(/\(line 3\)/);
  expect([status, await stored()]).toEqual([1, { count: 3, sum: "123456789012345.978901234567890123" }]);
  const { rows } = await harness.fixtures.sql.query(
    "select type, source, trim_scale(quantity)::text as quantity, occurred_at from public.messages where workspace_id = $1 order by id",
    [workspace],
  );
  expect(rows).toMatchObject([
    { type: "usage", source: "import", quantity: "0.000000000001" },
    { type: "subscription", occurred_at: new Date("2026-03-01T00:00:00Z") },
    { type: "expense", occurred_at: new Date("2026-03-01T00:00:00Z") },
  ]);
});

test("Records only new rows of a changed file with ids of its own", async () => {
  const { start, stored } = await newImport();
  const header = "invoice,project,vendor,amount";
  const before = write("invoices.csv", [header, "i-1,p,v,1", "i-2,p,v,2"]);
  expect((await start(before, "--yes", "--id-column", "invoice").ended).status).toBe(0);
  const after = write("invoices.csv", [header, "i-3,p,v,4", "i-2,p,v,2", "i-1,p,v,8", ",p,v,16"]);
  const { output, status } = await start(after, "--yes", "--id-column", "invoice").ended;
  expect(output).toContain("4 rows: 1 recorded, 1 were before, 2 refused.");
  expect(output).toMatch(/1 × idempotency_conflict: recorded before with another message\.amount \(line 4\)/);
  expect(output).toMatch(/1 × invoice: the row has no id \(line 5\)/);
  expect([status, await stored()]).toEqual([1, { count: 3, sum: "7" }]);
});

test("Ends with its own status when no row could be recorded", async () => {
  const { start } = await newImport({ revoked_at: "2026-01-01T00:00:00Z" });
  const path = write("few.csv", ["project,vendor,amount", "p,v,1"]);
  const revoked = await start(path, "--yes").ended;
  expect([revoked.status, revoked.output]).toEqual([2, expect.stringContaining("key_revoked")]);
  expect(await start(join(folder, "none.csv"), "--yes").ended).toMatchObject({ status: 2 });
  const unmapped = await start(write("no-project.csv", ["vendor,amount", "v,1"]), "--yes").ended;
  expect([unmapped.status, unmapped.output]).toEqual([2, expect.stringContaining("--project-column")]);
});

test("Retries after a busy service, a rate limit and a lost connection", async () => {
  const answers = [429, 503, "cut", 207];
  const asked: number[] = [];
  const server = createServer((request, response) => {
    asked.push(performance.now());
    const answer = answers[asked.length - 1];
    if (answer === "cut") return request.socket.destroy();
    const headers = answer === 429 ? { "retry-after": "1" } : {};
    response.writeHead(Number(answer), headers).end(answer === 207 ? '{"results":[{"status":201}]}' : "{}");
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  const waits: string[] = [];
  const poster = new Poster({
    endpoint: `http://127.0.0.1:${port}/api/v1/messages/batch`,
    onWait: (reason) => waits.push(reason),
  });
  expect(await poster.post([], false)).toEqual([{ status: 201 }]);
  expect(waits.map((reason) => /(?<=answered )\d{3}|reached/.exec(reason)?.[0])).toEqual([
    "429",
    "503",
    "reached",
  ]);
  expect((asked[1] ?? 0) - (asked[0] ?? 0)).toBeGreaterThanOrEqual(990);
  server.close();
});

describe("A column mapping", () => {
  test.each([
    ["Unit Type", "unit_type"],
    ["unitType", "unit_type"],
    ["message.model", "model"],
    ["TIMESTAMP", "occurred_at"],
    ["Cost (USD)", "estimated_cost"],
    ["Supplier", "vendor"],
    ["qty", "quantity"],
  ])("Uses the column %s for %s", (column, field) => {
    const { columns } = chooseMapping(["project", column], { map: {}, set: {} });
    expect(columns).toEqual({ project: "project", [field]: column });
  });

  test("Prefers a field's own name to its aliases, and an explicit mapping to both", () => {
    const columns = ["project", "date", "occurred_at", "cost", "x"];
    expect(chooseMapping(columns, { map: { estimated_cost: "x" }, set: { project: "p" } })).toMatchObject({
      columns: { occurred_at: "occurred_at", estimated_cost: "x" },
      constants: { project: "p" },
      unused: ["project", "date", "cost"],
    });
  });

  test("Lists the existing columns when a named one is missing", () => {
    expect(() => chooseMapping(["a"], { map: { project: "b" }, set: {} })).toThrow(
      /no column "b"; there are: a/,
    );
    expect(() => chooseMapping(["a"], { map: {}, set: { colour: "red" } })).toThrow(MappingError);
  });

  test("Does not use costs in other currencies as dollars", () => {
    const mapping = chooseMapping(["project", "model", "cost", "currency"], { map: {}, set: {} });
    const row = (currency: string) => ({
      line: 2,
      values: { project: "p", model: "m", cost: "5", currency },
    });
    expect(() => toMessage(row("EUR"), mapping, "k")).toThrow(/in USD, not EUR/);
    expect(toMessage(row("usd"), mapping, "k").message).not.toHaveProperty("currency");
  });
});

test("Keeps every derived figure equal to the sum of its messages", async () => {
  expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
});
