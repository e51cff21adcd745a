import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { type EmbeddedService, startEmbeddedService } from "@/tests/helpers/embedded-service";

let embedded: EmbeddedService;
const lines: Record<string, unknown>[] = [];

beforeAll(async () => {
  embedded = await startEmbeddedService({ LOG_LEVEL: "error" });
  const { stdout } = embedded.service.process;
  if (!stdout) throw new Error("The service has no output.");
  createInterface({ input: stdout }).on("line", (line) => {
    if (line.startsWith("{")) lines.push(JSON.parse(line));
  });
});
afterAll(async () => {
  embedded?.resumePostgres();
  await embedded?.stop();
});

test("Logs an outage under load once with its cause, then a count each second", async () => {
  const { secret } = await embedded.fixtures.key(await embedded.fixtures.workspace());
  const key = apiClient(embedded.service.baseUrl, secret);
  expect((await key.post(costMessage())).status).toBe(201);
  embedded.pausePostgres();
  expect((await key.get("/api/v1/summary/month")).status).toBe(503);
  lines.splice(0);
  const since = performance.now();
  const statuses = new Set<number>();
  for (let calls = 0; calls < 600; calls += 20) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => key.post(costMessage())));
    for (const { status } of answers) statuses.add(status);
  }
  const seconds = (performance.now() - since) / 1_000;
  expect(statuses).toEqual(new Set([503]));
  const ofRequests = () => lines.filter(({ msg }) => String(msg).startsWith("A request failed."));
  const counted = () => ofRequests().reduce((sum, { count }) => sum + Number(count ?? 1), 0);
  await expect.poll(counted, { timeout: 30_000 }).toBeGreaterThanOrEqual(599);
  // One line with its cause for each kind: the silence itself, and the refusals that follow.
  const inFull = ofRequests().filter(({ err }) => err);
  expect(inFull.length).toBeLessThanOrEqual(2);
  for (const { cause, err } of inFull) expect(cause ?? (err as { stack: string }).stack).toBeTruthy();
  const counts = ofRequests().filter(({ count }) => count);
  expect(counts.length).toBeLessThanOrEqual(2 * (Math.ceil(seconds) + 2));
  for (const line of counts) {
    expect(JSON.stringify(line)).not.toContain("    at ");
    expect(line.request_ids).toEqual(expect.arrayContaining([expect.stringMatching(/^req_/)]));
  }
});
