import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { generateSecret } from "@/lib/access/secrets/secret";
import { projectRoot } from "../helpers/project-root";
import { withSharedHarness } from "../helpers/shared-harness";

const harness = withSharedHarness();
const baseUrl = () => harness.services[0]?.baseUrl ?? "";

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
};

/** Runs the program with these settings only, writes `lines` to it, and closes its input once its output matches `until`. */
async function runProgram(
  settings: Record<string, string>,
  { file = "dist/mcp.mjs", lines = [] as unknown[], until = /$^/ } = {},
) {
  const child = spawn(process.execPath, [join(projectRoot, file)], {
    env: { NODE_ENV: "production", PATH: process.env.PATH, ...settings },
  });
  let out = "";
  let said = "";
  const look = () => {
    if (until.test(out + said)) child.stdin.end();
  };
  child.stdout.on("data", (chunk) => {
    out += chunk;
    look();
  });
  child.stderr.on("data", (chunk) => {
    said += chunk;
    look();
  });
  for (const line of lines) child.stdin.write(`${JSON.stringify(line)}\n`);
  const [status] = await once(child, "close");
  return { status, out, said };
}

describe("The program exits with an explanation when a setting is missing or wrong", () => {
  const good = { SVC_BASE_URL: "http://127.0.0.1:3000", SVC_API_KEY: generateSecret() };
  test.each([
    ["without an address", { ...good, SVC_BASE_URL: "" }, /SVC_BASE_URL is not set/],
    [
      "an address that is none",
      { ...good, SVC_BASE_URL: "localhost:3000" },
      /SVC_BASE_URL is "localhost:3000"/,
    ],
    ["without a key", { ...good, SVC_API_KEY: "" }, /SVC_API_KEY is not set/],
    [
      "a key with a typing error",
      { ...good, SVC_API_KEY: `${good.SVC_API_KEY.slice(0, -1)}!` },
      /not a complete API key/,
    ],
  ])("%s", async (_, settings, message) => {
    const { status, out, said } = await runProgram(settings);
    expect([status, out]).toEqual([1, ""]);
    expect(said).toMatch(message);
    expect(said.trim().split("\n")).toHaveLength(1);
  });
});

test("Reports a refused key and an unreachable service at the start, and to the model at each call", async () => {
  const call = {
    jsonrpc: "2.0",
    id: 2,
    method: "tools/call",
    params: { name: "get_budget_status", arguments: {} },
  };
  const lines = [initialize, { jsonrpc: "2.0", method: "notifications/initialized" }, call];
  const refused = await runProgram(
    { SVC_BASE_URL: baseUrl(), SVC_API_KEY: generateSecret() },
    { lines, until: /"id":2[\s\S]*outlay-mcp/ },
  );
  expect(refused.said).toContain("outlay-mcp: This API key is not known.");
  expect(refused.out).toContain("This API key is not known.");
  expect(refused.out).toContain('"isError":true');

  const away = await runProgram(
    { SVC_BASE_URL: "http://127.0.0.1:1", SVC_API_KEY: generateSecret() },
    { lines, until: /"id":2[\s\S]*outlay-mcp/ },
  );
  expect(away.said).toContain("Outlay cannot be reached at http://127.0.0.1:1");
  expect(away.out).toContain("Check SVC_BASE_URL");

  const page = await runProgram(
    { SVC_BASE_URL: `${baseUrl()}/docs`, SVC_API_KEY: generateSecret() },
    { lines, until: /"id":2[\s\S]*outlay-mcp/ },
  );
  expect(page.said).toContain("it is the service's address, without a path");
});

test("Writes only protocol messages to standard output, also when started from a checkout", async () => {
  const { secret } = await harness.fixtures.key(await harness.fixtures.workspace(), {
    permissions: ["log_usage"],
  });
  const list = { jsonrpc: "2.0", id: 2, method: "tools/list", params: {} };
  const lines = [initialize, { jsonrpc: "2.0", method: "notifications/initialized" }, list];
  const { status, out, said } = await runProgram(
    { SVC_BASE_URL: `${baseUrl()}/`, SVC_API_KEY: secret, LOG_LEVEL: "trace" },
    { file: "scripts/outlay-mcp.mjs", lines, until: /"id":2/ },
  );
  expect([status, said]).toEqual([0, ""]);
  const answers = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(answers.map(({ id }) => id)).toEqual([1, 2]);
});
