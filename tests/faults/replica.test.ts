import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { loginUrl } from "@/lib/db/embedded/cluster";
import { readState } from "@/lib/db/embedded/state";
import { apiClient, costMessage, signUpUser } from "@/tests/helpers/client";
import { type EmbeddedService, startEmbeddedService } from "@/tests/helpers/embedded-service";
import { type Replica, startReplica } from "@/tests/helpers/replica";
import { monitoring, type Service, startService } from "@/tests/helpers/service";

let embedded: EmbeddedService;
let replica: Replica;
/** A second service on the same database, which reads from the replica. */
let reader: Service;
let person: ReturnType<typeof apiClient>;
let writer: ReturnType<typeof apiClient>;
let key: ReturnType<typeof apiClient>;
let slug: string;
let recorded = 0;

beforeAll(async () => {
  embedded = await startEmbeddedService();
  replica = await startReplica(embedded);
  const state = readState(embedded.dataDir);
  reader = await startService(
    { url: loginUrl(state, state.port ?? 0, "outlay_service"), adminUrl: embedded.adminUrl },
    { POSTGRES_READ_URL: replica.url, LOG_LEVEL: "silent", OUTLAY_DATA_DIR: embedded.dataDir },
  );
  const user = await signUpUser(embedded.service.baseUrl);
  const { body } = await user.get("/api/v1/me");
  const [workspace] = body.workspaces as { id: string; slug: string }[];
  slug = workspace?.slug ?? "";
  person = apiClient(reader.baseUrl, user.token);
  const { secret } = await embedded.fixtures.key(workspace?.id ?? "");
  writer = apiClient(embedded.service.baseUrl, secret);
  key = apiClient(reader.baseUrl, secret);
});
afterEach(async () => {
  replica.resume();
  await replica.query("select pg_wal_replay_resume()").catch(() => {});
});
afterAll(async () => {
  await reader?.stop();
  await replica?.stop();
  await embedded?.stop();
});

/** Records a message through the other service. */
async function record(): Promise<void> {
  expect((await writer.post(costMessage({ estimated_cost: 1 }))).status).toBe(201);
  recorded += 1;
}

async function expectAllSeen(): Promise<void> {
  const { status, body } = await person.get(`/api/v1/workspaces/${slug}/metrics?period=month`);
  expect(status).toBe(200);
  expect(Number((body.totals as { total_usd: unknown }).total_usd)).toBe(recorded);
}

/** How many transactions the reading service has completed on the replica or on the primary. */
async function calls(purpose: "replica" | "reading"): Promise<number> {
  const response = await fetch(`${reader.baseUrl}/metrics`, { headers: monitoring });
  const line = new RegExp(
    `^outlay_database_call_duration_seconds_count\\{.*purpose="${purpose}".*\\} (\\d+)$`,
    "m",
  ).exec(await response.text());
  return Number(line?.[1] ?? 0);
}

const health = async () => (await apiClient(reader.baseUrl, null).get("/api/health")).body;
const expectHealth = (state: string) =>
  expect
    .poll(health, { timeout: 15_000 })
    .toMatchObject({ status: "ok", checks: { database_readable: "ok", replica: state } });

test("Answers people from the replica, with all that was recorded just before, and keys from the primary", async () => {
  await expectHealth("ok");
  const before = await calls("replica");
  for (let count = 0; count < 50; count += 1) {
    await record();
    await expectAllSeen();
  }
  expect((await calls("replica")) - before).toBeGreaterThanOrEqual(40);
  const answered = await calls("replica");
  expect((await key.get("/api/v1/summary/month")).status).toBe(200);
  expect((await key.get("/api/v1/limits")).status).toBe(200);
  expect(await calls("replica")).toBe(answered);
});

test("Shows a person what they changed through this service at once", async () => {
  for (let count = 0; count < 20; count += 1) {
    const name = `Budget ${count}`;
    const made = await person.call("POST", `/api/v1/workspaces/${slug}/budgets`, {
      name,
      amount: 10,
      scope_type: "global",
    });
    expect(made.status).toBe(201);
    const { body } = await person.get(`/api/v1/workspaces/${slug}/budgets`);
    expect(JSON.stringify(body)).toContain(name);
  }
});

test("Asks the primary while the replica is behind, and the replica when it has caught up", async () => {
  await replica.query("select pg_wal_replay_pause()");
  for (let count = 0; count < 10; count += 1) {
    await record();
    await expectAllSeen();
  }
  await expectHealth("behind");
  await replica.query("select pg_wal_replay_resume()");
  await expectHealth("ok");
  const before = await calls("replica");
  await expect
    .poll(async () => {
      await expectAllSeen();
      return calls("replica");
    })
    .toBeGreaterThan(before + 2);
});

test("Asks the primary while the replica is silent", async () => {
  replica.pause();
  await record();
  const since = performance.now();
  await Promise.all(Array.from({ length: 8 }, expectAllSeen));
  expect(performance.now() - since).toBeLessThan(6_000);
  await expectHealth("failing");
});

test("Asks the primary once the replica was promoted, because it no longer follows", async () => {
  await replica.query("select pg_promote()");
  await record();
  await expectAllSeen();
  await expectHealth("failing");
});

test("Asks the primary once the replica has ended", async () => {
  await replica.stop();
  for (let count = 0; count < 5; count += 1) {
    await record();
    await expectAllSeen();
  }
  await expectHealth("failing");
});
