import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import type { KeyOptions } from "@/tests/helpers/keys";
import { projectRoot } from "@/tests/helpers/project-root";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { withIntermediary } from "./intermediary";

// `outlay hook` with what Claude Code writes to a hook's stdin, and what it reads from its stdout.

const harness = withSharedHarness();
const intermediary = withIntermediary();
const program = join(projectRoot, "packages/client/bin/outlay.mjs");

let caches: string;
let workspace: string;
beforeEach(async () => {
  caches = mkdtempSync(join(tmpdir(), "outlay-hook-"));
  workspace = await harness.fixtures.workspace();
  intermediary.target = harness.services[0]?.baseUrl;
  intermediary.seen = [];
  intermediary.decide = () => undefined;
});
afterEach(() => rmSync(caches, { recursive: true, force: true }));

async function start(options: KeyOptions = {}) {
  const { id, secret } = await harness.fixtures.key(workspace, options);
  const client = apiClient(harness.services[0]?.baseUrl ?? "", secret);
  /** Runs the hook for an event. @returns its exit code, its decision if it printed one, and what it told the person */
  const run = (event: string, environment: Record<string, string> = {}) =>
    new Promise<{ code: number; decision: Record<string, unknown> | null; told: string }>((resolve) => {
      const env = {
        ...process.env,
        XDG_CACHE_HOME: caches,
        OUTLAY_URL: intermediary.url,
        OUTLAY_KEY: secret,
      };
      const child = execFile(
        process.execPath,
        [program, "hook"],
        { env: { ...env, ...environment } },
        (error, stdout, stderr) =>
          resolve({
            code: Number(error?.code ?? 0),
            decision: stdout ? JSON.parse(stdout) : null,
            told: stderr,
          }),
      );
      child.stdin?.end(
        JSON.stringify({
          ...{ session_id: "s", transcript_path: "/tmp/t.jsonl", cwd: "/tmp", permission_mode: "default" },
          ...(event === "UserPromptSubmit"
            ? { hook_event_name: event, prompt: "Hello" }
            : { hook_event_name: event, tool_name: "Bash", tool_input: { command: "ls" } }),
        }),
      );
    });
  const spend = async (usd: number) => {
    expect((await client.post(costMessage({ estimated_cost: usd }))).status).toBe(201);
  };
  return { id, run, spend };
}

async function setBudget(name: string, amount: number, scope = "global", value: string | null = null) {
  const { rows } = await harness.fixtures.sql.query(
    `insert into public.budgets (workspace_id, name, amount, scope_type, scope_value, period, blocks)
     values ($1, $2, $3, $4, $5, 'month', true) returning id`,
    [workspace, name, amount, scope, value],
  );
  return String(rows[0].id);
}

/** Makes what is cached look older. */
function age(byMs: number) {
  const folder = join(caches, "outlay");
  for (const name of readdirSync(folder).filter((each) => each.endsWith(".json"))) {
    const cache = JSON.parse(readFileSync(join(folder, name), "utf8"));
    writeFileSync(join(folder, name), JSON.stringify({ ...cache, at: cache.at - byMs }));
  }
}

const allowed = { code: 0, decision: null, told: "" };

test("Refuses a prompt, and ends a turn before its next tool, once a budget is used up, until it is raised", async () => {
  const id = await setBudget("Team", 5);
  const { run, spend } = await start();
  await spend(4);
  expect(await run("UserPromptSubmit")).toEqual(allowed);
  await spend(1);
  // What is known may be a minute old.
  expect(await run("UserPromptSubmit")).toEqual(allowed);
  expect(intermediary.seen).toHaveLength(1);
  age(61_000);
  const { code, decision } = await run("UserPromptSubmit");
  expect([code, decision]).toEqual([0, { decision: "block", reason: expect.any(String) }]);
  const reason = String(decision?.reason);
  expect(reason).toMatch(
    /^Outlay: the budget "Team" is used up: \$5 of \$5 spent\. It resets at 2\d{3}-\d\d-01 00:00 UTC\. Ask for more: http/,
  );
  expect(reason).toMatch(new RegExp(`/workspaces/ask\\?budget=${id}$`));
  expect((await run("PreToolUse")).decision).toEqual({
    continue: false,
    stopReason: reason,
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision: "deny",
      permissionDecisionReason: reason,
    },
  });
  expect(await run("Stop")).toEqual(allowed);
  await harness.fixtures.sql.query("update public.budgets set amount = 10 where id = $1", [id]);
  age(3000);
  expect(await run("UserPromptSubmit")).toEqual(allowed);
});

test("Refuses for the key's own limit, and for what is reserved, without figures that the key may not read", async () => {
  const { id, run, spend } = await start({ monthly_limit: "2", permissions: ["log_usage"] });
  await spend(2);
  const own = await run("UserPromptSubmit");
  expect(own.decision?.reason).toMatch(new RegExp(`this API key's monthly limit.*\\$2 of \\$2.*key=${id}$`));
  await setBudget("Secret", 2);
  const other = await start({ permissions: ["log_usage"] });
  const hidden = String((await other.run("UserPromptSubmit")).decision?.reason);
  expect(hidden).toMatch(/^Outlay: the budget "Secret" is used up\. It resets/);
});

test("Does not refuse for budgets of what it cannot know to count", async () => {
  const project = await harness.fixtures.project(workspace, "checkout");
  await setBudget("ben", 0.01, "user", "ben");
  await setBudget("draw", 0.01, "feature", "draw");
  await setBudget("checkout", 0.01, "project", project);
  const { run, spend } = await start();
  await harness.fixtures.sql.query("update public.budgets set blocks = false where workspace_id = $1", [
    workspace,
  ]);
  await spend(1);
  await harness.fixtures.sql.query("update public.budgets set blocks = true where workspace_id = $1", [
    workspace,
  ]);
  expect(await run("UserPromptSubmit")).toEqual(allowed);
  expect(await run("UserPromptSubmit", { OUTLAY_PROJECT: "search" })).toEqual(allowed);
  const inProject = await run("UserPromptSubmit", { OUTLAY_PROJECT: "checkout" });
  expect(inProject.decision?.reason).toContain('the budget "checkout" is used up');
});

test("Goes on while the service is away, unless told to refuse, and keeps to what it knew", async () => {
  await setBudget("Team", 1);
  const { run, spend } = await start();
  const closed = { OUTLAY_WHEN_UNREACHABLE: "closed" };
  intermediary.decide = () => "cut";
  expect(await run("UserPromptSubmit")).toEqual(allowed);
  expect((await run("UserPromptSubmit", closed)).decision?.reason).toContain("Outlay cannot be reached at");
  intermediary.decide = () => undefined;
  await spend(1);
  expect((await run("UserPromptSubmit")).decision).toMatchObject({ decision: "block" });
  intermediary.decide = () => ({ status: 503 });
  age(5 * 60_000);
  expect((await run("UserPromptSubmit")).decision).toMatchObject({ decision: "block" });
  age(10 * 60_000);
  expect(await run("UserPromptSubmit")).toEqual(allowed);
});

test("Tells the person about a key that is refused, and goes on", async () => {
  const { run } = await start({ revoked_at: new Date().toISOString() });
  const { code, decision, told } = await run("UserPromptSubmit");
  expect([code, decision]).toEqual([1, null]);
  expect(told).toMatch(/^Outlay refuses the key \(401\): set OUTLAY_KEY/);
});
