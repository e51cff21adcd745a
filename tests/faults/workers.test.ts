import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { lifeOf } from "@/lib/db/embedded/claim.mjs";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { startEmbeddedService } from "@/tests/helpers/embedded-service";
import { ledgerDifferences, withHarness } from "@/tests/helpers/harness";
import { brokenPromises, Load, recordedUnanswered } from "@/tests/helpers/load";
import type { Service } from "@/tests/helpers/service";
import { makeTeam, type Team } from "@/tests/helpers/team";
import { toolCall } from "@/tests/helpers/tool-call";
import {
  type Connection,
  connectToBoth,
  requestsOfWorkers,
  untilServing,
  workerPids,
} from "@/tests/helpers/workers";

const harness = withHarness({ services: 0, settings: { WEB_CONCURRENCY: "2", LOG_LEVEL: "silent" } });
const rounds = [1, 2];
const messages = "/api/v1/messages";
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

const newKey = async (options: Parameters<typeof harness.fixtures.key>[1] = {}) =>
  harness.fixtures.key(await harness.fixtures.workspace(), options);

const storedOf = async (keyId: string): Promise<string[]> => {
  const { rows } = await harness.fixtures.sql.query("select id from public.messages where api_key_id = $1", [
    keyId,
  ]);
  return rows.map(({ id }) => id);
};

describe("Two workers behind one port", () => {
  let service: Service;
  let both: [Connection, Connection];
  beforeAll(async () => {
    service = await harness.start();
    both = await connectToBoth(service);
  });
  afterAll(() => {
    for (const connection of both) connection.close();
  });

  /** Posts messages at once on many connections. @returns their statuses, after checking that both workers answered some */
  const race = async (secret: string, count: number, body: (index: number) => unknown) => {
    const before = await requestsOfWorkers(service, messages);
    const client = apiClient(service.baseUrl, secret);
    const answers = await Promise.all(Array.from({ length: count }, (_, index) => client.post(body(index))));
    const after = await requestsOfWorkers(service, messages);
    const shares = [...after].map(([worker, requests]) => requests - (before.get(worker) ?? 0));
    expect(shares).toHaveLength(2);
    expect(Math.min(...shares)).toBeGreaterThan(0);
    expect(
      shares.reduce((sum, share) => sum + share),
      "the metrics count the requests of both",
    ).toBe(count);
    return answers;
  };
  const countOf = (answers: { status: number }[], wanted: number) =>
    answers.filter(({ status }) => status === wanted).length;

  test.each(rounds)("Admit together what a rate limit allows, and no more (round %i)", async () => {
    const { id, secret } = await newKey({ rate_limit_rpm: 40 });
    const answers = await race(secret, 96, () => costMessage());
    expect([countOf(answers, 201), countOf(answers, 429)]).toEqual([40, 56]);
    expect(await storedOf(id)).toHaveLength(40);
  });

  test.each(rounds)("Record together what a monthly limit allows, to the cent (round %i)", async () => {
    const { id, secret } = await newKey({ monthly_limit: "0.40" });
    const answers = await race(secret, 96, () => costMessage());
    expect([countOf(answers, 201), countOf(answers, 402)]).toEqual([40, 56]);
    expect(await storedOf(id)).toHaveLength(40);
    expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
  });

  test.each(rounds)(
    "Record one message of an idempotency key, and answer all with it (round %i)",
    async () => {
      const { id, secret } = await newKey();
      const answers = await race(secret, 64, () => costMessage({}, { idempotency_key: "once" }));
      const stored = await storedOf(id);
      expect(stored).toHaveLength(1);
      for (const { status, body } of answers)
        expect({ status, id: body.id }).toEqual({ status: 201, id: stored[0] });
    },
  );

  test("Refuse a revoked key, a changed price and a lowered limit at once, whichever made the change", async () => {
    const team: Team = await makeTeam({ ...harness, services: [service] });
    const owner = bearer(team.users.owner.token);
    for (const [turn, changing] of both.entries()) {
      const asked = both[1 - turn] ?? changing;
      const post = () =>
        asked.send(
          "POST",
          messages,
          bearer(secret),
          costMessage({ provider: "acme", model, estimated_cost: undefined }),
        );
      const change = async (method: string, path: string, body?: unknown) => {
        const answer = await changing.send(method, team.path + path, owner, body);
        expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
        return answer.body;
      };
      const model = `in-house-${turn}`;
      const permissions = ["log_usage", "read_summaries"];
      const { id, secret } = (await change("POST", "/api-keys", { name: "CI", permissions })) as {
        id: string;
        secret: string;
      };
      expect(await post()).toMatchObject({ status: 201, body: { cost_status: "unpriced" } });
      await change("PUT", "/prices", {
        provider: "acme",
        model,
        unit_type: "input_tokens",
        rate: 2,
        starts_at: new Date().toISOString(),
      });
      expect(await post()).toMatchObject({ status: 201, body: { amount_usd: 2 } });
      await change("PATCH", `/api-keys/${id}`, { monthly_limit: 2.5 });
      expect(await post()).toMatchObject({ status: 402 });
      await change("DELETE", `/api-keys/${id}`);
      for (const connection of both) {
        const { status, body } = await connection.send("GET", "/api/v1/summary/month", bearer(secret));
        expect([status, body.error]).toEqual([401, "key_revoked"]);
      }
    }
  });

  test("Record a tool call once with its retry, which reaches the other worker", async () => {
    const { id, secret } = await newKey();
    const usage = {
      project: "checkout",
      provider: "acme",
      unit_type: "requests",
      quantity: 1,
      estimated_cost: 1,
    };
    const call = (requestId: number) => {
      const { headers, body } = toolCall("2026", "log_usage", usage, { id: requestId });
      return ["POST", "/api/mcp", { ...headers, ...bearer(secret) }, body] as const;
    };
    // The first message of a month makes its partition, which would wait for the same lock.
    await both[0].send(...call(0));
    const holder = await harness.fixtures.sql.connect();
    await holder.query("begin; lock table public.messages in exclusive mode");
    const lost = both[0].begin(...call(1));
    lost.on("error", () => {});
    await vi.waitUntil(async () => {
      const { rows } = await harness.fixtures.sql.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
         and query like '%private.store_messages(%'`,
      );
      return rows.length === 1;
    }, 30_000);
    const closed = new Promise((resolve) => lost.once("close", resolve));
    // Ends the connection in order: the worker closes its side once it has noticed.
    lost.socket?.end();
    await closed;
    // Messages between workers keep their order: once both have told their metrics, the other knows of the lost call.
    await requestsOfWorkers(service, messages);
    const retry = both[1].send(...call(2));
    await holder.query("commit");
    holder.release();
    expect((await retry).status).toBe(200);
    await expect.poll(() => storedOf(id)).toHaveLength(2);
    // Equal to the call before, but that one was answered.
    await both[1].send(...call(3));
    expect(await storedOf(id)).toHaveLength(3);
    // The worker that lost the call has heard that it was repeated: an equal call is a use of its own there, too.
    await requestsOfWorkers(service, messages);
    await both[0].send(...call(4));
    expect(await storedOf(id)).toHaveLength(4);
  });

  test("Answer what they accepted at SIGTERM, and exit with 0", async () => {
    const pids = workerPids(service);
    const load = new Load({
      clients: 32,
      secret: (await newKey()).secret,
      baseUrl: () => service.baseUrl,
      retry: "never",
    });
    await load.storesMore(300);
    const shares = [...(await requestsOfWorkers(service, messages)).values()];
    expect(Math.min(...shares)).toBeGreaterThan(0);
    expect(await service.stop()).toBe(0);
    await load.stop();
    expect(pids.filter(isAlive)).toEqual([]);
    expect(load.posted.filter(({ answer }) => answer && answer.status !== 201)).toEqual([]);
    expect(await brokenPromises(harness.fixtures, load)).toEqual([]);
    expect(
      await recordedUnanswered(harness.fixtures, load),
      "recorded, but cut off before the answer",
    ).toEqual([]);
    expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
  });
});

describe("A worker killed with SIGKILL", () => {
  test("Loses nothing that was answered, and is started again while the other serves", async () => {
    const service = await harness.start();
    const { secret } = await newKey();
    const [doomed = 0, other = 0] = workerPids(service);
    const baseUrl = () => service.baseUrl;
    const load = new Load({ clients: 24, secret, baseUrl, retry: "never" });
    const retrying = new Load({ clients: 8, secret, baseUrl, retry: "until-stored" });
    await load.storesMore(100);
    process.kill(doomed, "SIGKILL");
    // The clients of the other worker go on.
    await load.storesMore(50);
    await load.stop();
    const pids = await untilServing(service, 2);
    expect(pids).toContain(other);
    expect(pids).not.toContain(doomed);
    await retrying.storesMore(20);
    await retrying.stop();
    for (const each of [load, retrying]) expect(await brokenPromises(harness.fixtures, each)).toEqual([]);
    expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
    expect(await service.stop()).toBe(0);
  });

  test("Closes a connection that it had not accepted yet, and leaves none behind where the service itself is killed", async () => {
    const service = await harness.start();
    const [stuck = 0] = workerPids(service);
    process.kill(stuck, "SIGSTOP");
    const began = performance.now();
    const requests = Array.from({ length: 4 }, () =>
      fetch(`${service.baseUrl}/api/health`, { headers: { connection: "close" } }).then(
        ({ status }) => status,
        () => "closed",
      ),
    );
    // All but the one that was handed to the stopped worker are answered by the other.
    await expect.poll(() => Promise.race([...requests, wait(0, "open")]), { timeout: 30_000 }).toBe(200);
    process.kill(stuck, "SIGKILL");
    const outcomes = await Promise.all(requests);
    expect(outcomes.filter((outcome) => outcome === "closed")).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 200)).toHaveLength(3);
    expect(performance.now() - began).toBeLessThan(20_000);
    await untilServing(service, 2);
    const pids = workerPids(service);
    expect(pids).toHaveLength(2);
    await service.kill();
    await expect.poll(() => pids.filter(isAlive), { timeout: 30_000 }).toEqual([]);
  });
});

test("Ends the service with a message when a worker ends three times before it serves", async () => {
  const service = await harness.start();
  const initial = workerPids(service);
  let said = "";
  service.process.stderr?.on("data", (chunk) => {
    said += chunk;
  });
  const ended = once(service.process, "exit");
  process.kill(initial[0] ?? 0, "SIGKILL");
  while (service.process.exitCode === null) {
    for (const pid of workerPids(service)) if (!initial.includes(pid)) process.kill(pid, "SIGKILL");
    await wait(50);
  }
  expect((await ended)[0]).toBe(1);
  expect(said).toContain("A worker ended 3 times before it could serve: ended by SIGKILL");
  expect(initial.filter(isAlive)).toEqual([]);
});

test("Refuses to start with workers whose pools need more connections than the database accepts", async () => {
  await expect(harness.start({ WEB_CONCURRENCY: "60" })).rejects.toThrow(
    /WEB_CONCURRENCY is 60.*POSTGRES_POOL_SIZE.*accept 612.*max_connections/s,
  );
});

test("Serves with many workers on the embedded database, and stops it after them", async () => {
  // More connections than the 100 that Postgres accepts by default.
  const { service, fixtures, adminUrl, stop } = await startEmbeddedService({
    WEB_CONCURRENCY: "2",
    POSTGRES_POOL_SIZE: "60",
  });
  try {
    const { secret } = await fixtures.key(await fixtures.workspace());
    const answers = Array.from({ length: 32 }, () => apiClient(service.baseUrl, secret).post(costMessage()));
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(32).fill(201));
    const { rows } = await fixtures.sql.query("show max_connections");
    expect(Number(rows[0].max_connections)).toBeGreaterThanOrEqual(2 * 60);
    expect(await service.stop()).toBe(0);
    const late = new Client({ connectionString: adminUrl });
    await expect(late.connect()).rejects.toThrow(/ECONNREFUSED/);
  } finally {
    await stop();
  }
});

/** Whether a process runs; one that has ended and waits for its parent does not. */
const isAlive = (pid: number) => lifeOf(pid) !== undefined;
