import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { projectRoot } from "@/tests/helpers/project-root";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const execute = promisify(execFile);
const harness = withSharedHarness();

let caches: string;
let server: Server;
/** How the server answers the next requests. */
let answer: (response: ServerResponse) => void;

beforeEach(async () => {
  caches = mkdtempSync(join(tmpdir(), "outlay-status-"));
  server = createServer((_, response) => {
    answer(response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => {
    server.close(resolve);
  });
  rmSync(caches, { recursive: true, force: true });
});

const program = join(projectRoot, "packages/client/bin/outlay.mjs");
const addressOf = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
/** Runs `outlay status`. */
const status = async (url: string, key = "key") => {
  const env = { ...process.env, XDG_CACHE_HOME: caches, OUTLAY_URL: url, OUTLAY_KEY: key };
  return (await execute(process.execPath, [program, "status"], { env })).stdout.trim();
};
/** Makes what is cached look older. */
const age = (byMs: number) => {
  const folder = join(caches, "outlay");
  for (const name of readdirSync(folder).filter((each) => each.endsWith(".json"))) {
    const cache = JSON.parse(readFileSync(join(folder, name), "utf8"));
    writeFileSync(join(folder, name), JSON.stringify({ ...cache, at: cache.at - byMs }));
  }
};
const limit = (limit_usd: number, remaining_usd: number, period: string) => ({
  limit_usd,
  remaining_usd,
  period,
});
const limits = (body: object) => (response: ServerResponse) => response.end(JSON.stringify(body));

test("Prints what is left of the limit that is nearest to its end, as the service has it", async () => {
  const workspace = await harness.fixtures.workspace();
  const { secret } = await harness.fixtures.key(workspace, { monthly_limit: "100" });
  await harness.fixtures.sql.query(
    `insert into public.budgets (workspace_id, name, scope_type, amount, period) values
     ($1, 'Day', 'global', 20, 'day'), ($1, 'Year', 'global', 5000, 'year')`,
    [workspace],
  );
  const url = harness.services[0]?.baseUrl ?? "";
  await apiClient(url, secret).post(costMessage({ estimated_cost: 16.8049 }));
  // Where a day, or a month, has begun since then, nothing is spent in it.
  expect(await status(url, secret)).toMatch(
    /^(\$3\.19 of \$20 left today|\$83\.19 of \$100 left this month|\$100 of \$100 left this month)$/,
  );
});

test("Prints from the cache while the service hangs, and refreshes it in the background", async () => {
  answer = limits({ key: { monthly_limit: null }, budgets: [limit(20, 3.2, "day")] });
  expect(await status(addressOf())).toBe("$3.20 of $20 left today");
  const held: ServerResponse[] = [];
  answer = (response) => held.push(response);
  age(60_000);
  expect(await status(addressOf())).toBe("$3.20 of $20 left today");
  await vi.waitUntil(() => held.length > 0, { timeout: 60_000 });
  answer = limits({ key: { monthly_limit: null }, budgets: [limit(20, 1, "day")] });
  for (const response of held) answer(response);
  await vi.waitUntil(async () => (await status(addressOf())) === "$1 of $20 left today", { timeout: 60_000 });
});

test("Says how old it is once the service is away, and what is wrong where nothing is known", async () => {
  answer = limits({ key: { monthly_limit: null }, budgets: [] });
  expect(await status(addressOf())).toBe("no limit");
  answer = (response) => response.destroy();
  age(30 * 60_000);
  expect(await status(addressOf())).toMatch(/^no limit \(3[0-9] min ago\)$/);
  expect(await status(addressOf(), "another")).toMatch(/^Outlay cannot be reached at http/);
  answer = (response) => response.writeHead(401).end("{}");
  expect(await status(addressOf(), "revoked")).toBe("Outlay refuses the key (401)");
});
