import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { deadlines } from "@/lib/db/deadlines";
import { blockWrites } from "@/tests/helpers/block";
import { type Answer, apiClient, costMessage, signUpUser } from "@/tests/helpers/client";
import { type EmbeddedService, startEmbeddedService } from "@/tests/helpers/embedded-service";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { brokenPromises, Load, type Posted } from "@/tests/helpers/load";
import { withPages } from "@/tests/helpers/service";
import { toolCall } from "@/tests/helpers/tool-call";

/** The limit within which every call is answered while the database is silent (ms). */
const limitMs = 6_000;

let embedded: EmbeddedService;
let secret: string;
let slug: string;
let user: Awaited<ReturnType<typeof signUpUser>>;
const baseUrl = () => embedded.service.baseUrl;
const key = () => apiClient(baseUrl(), secret);
const health = () => apiClient(baseUrl(), null).get("/api/health");

beforeAll(async () => {
  embedded = await startEmbeddedService(withPages);
  const { fixtures } = embedded;
  secret = (await fixtures.key(await fixtures.workspace(), { monthly_limit: "1000000" })).secret;
  user = await signUpUser(baseUrl());
  const { body } = await user.get("/api/v1/me");
  slug = (body.workspaces as { slug: string }[])[0]?.slug ?? "";
  expect((await key().post(costMessage())).status).toBe(201);
});
afterAll(async () => {
  embedded?.resumePostgres();
  await embedded?.stop();
});
afterEach(async () => {
  embedded.resumePostgres();
  await recovers();
});

/** Waits until the service records again. */
const recovers = () =>
  expect.poll(async () => (await key().post(costMessage())).status, { timeout: 15_000 }).toBe(201);

async function timed(call: () => Promise<Answer>): Promise<Answer & { tookMs: number }> {
  const since = performance.now();
  const answer = await call();
  return { ...answer, tookMs: performance.now() - since };
}

/** Pauses Postgres while nothing waits for it. */
async function pause(): Promise<void> {
  await recovers();
  embedded.pausePostgres();
}

describe("While Postgres is paused (SIGSTOP)", () => {
  const tool = (name: string) => {
    const { body, headers } = toolCall("2026", name, {});
    return () => key().call("POST", "/api/mcp", body, headers);
  };
  const calls: Record<string, () => Promise<Answer>> = {
    "a message": () => key().post(costMessage()),
    "a bulk call": () => key().call("POST", "/api/v1/messages/batch", { messages: [costMessage()] }),
    "a summary": () => key().get("/api/v1/summary/month"),
    "a budget status": () => key().get("/api/v1/budgets/status"),
    "a tool that reads": tool("get_monthly_summary"),
    "the dashboard's metrics": () => user.get(`/api/v1/workspaces/${slug}/metrics`),
    "an export": () => user.get(`/api/v1/workspaces/${slug}/export`),
    "a change": () =>
      user.call("POST", `/api/v1/workspaces/${slug}/budgets`, {
        name: "b",
        amount: 1,
        scope_type: "global",
      }),
    "who is signed in": () => user.get("/api/v1/me"),
  };

  test("Answers every call with 503 and Retry-After within six seconds, the first and later ones", async () => {
    await pause();
    for (const _ of ["first", "after"]) {
      const answers = await Promise.all(
        Object.entries(calls).map(async ([name, call]) => ({ name, ...(await timed(call)) })),
      );
      for (const { name, status, headers, body, tookMs } of answers) {
        expect([name, status, body.error]).toEqual([name, 503, "unavailable"]);
        expect(Number(headers.get("retry-after")), name).toBeGreaterThan(0);
        expect(tookMs, name).toBeLessThan(limitMs);
        expect(JSON.stringify(body)).not.toMatch(/ECONN|terminat|postgres|pg_|SQLSTATE/i);
      }
    }
  });

  test("Answers the local sign-in with 503 within six seconds", async () => {
    await pause();
    const { email } = user;
    const signIn = await timed(() =>
      apiClient(baseUrl(), null).call("POST", "/auth/v1/token?grant_type=password", {
        email,
        password: "correct horse battery",
      }),
    );
    expect(signIn.status).toBe(503);
    expect(Number(signIn.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(signIn.tookMs).toBeLessThan(limitMs);
  });

  test("Reports in health within six seconds, with 503, that the database does not answer", async () => {
    await pause();
    const { status, body, tookMs } = await timed(health);
    expect([status, body.status, body.checks]).toEqual([
      503,
      "failing",
      { database_readable: "failing", database_writable: "failing" },
    ]);
    expect(tookMs).toBeLessThan(limitMs);
    embedded.resumePostgres();
    await expect.poll(async () => (await health()).status, { timeout: 30_000 }).toBe(200);
  });

  test("Answers a page before the deadline of its transaction, also with a session to refresh", async () => {
    const { body } = await apiClient(baseUrl(), null).call("POST", "/auth/v1/token?grant_type=password", {
      email: user.email,
      password: "correct horse battery",
    });
    const look = (expiresAt: unknown) => {
      const { user: _, ...session } = { ...(body as { user: unknown }), expires_at: expiresAt };
      const cookie = `outlay-session=base64-${Buffer.from(JSON.stringify(session)).toString("base64url")}`;
      return fetch(`${baseUrl()}/${slug}`, { headers: { cookie }, redirect: "manual" });
    };
    expect((await look(body.expires_at)).status).toBe(200);
    await pause();
    for (const [what, expiresAt] of [
      ["a session", body.expires_at],
      ["a session to be refreshed", 1],
    ] as const) {
      const since = performance.now();
      const page = await look(expiresAt);
      await page.text();
      expect([what, page.status], "neither signed out nor sent away").toEqual([what, 503]);
      // It would take so long if nothing noticed that the database is silent. A page takes more of the processor than a call.
      expect(performance.now() - since, what).toBeLessThan(deadlines.request);
    }
  });
});

const isRefused = ({ answer }: Posted) => answer?.status === 503;

test("Answers each call in time, loses nothing acknowledged and repeats nothing after a pause under load", async () => {
  const load = new Load({ clients: 24, secret, baseUrl, retry: "never" });
  const retrying = new Load({ clients: 8, secret, baseUrl, retry: "until-stored" });
  for (let round = 0; round < 3; round += 1) {
    await load.storesMore(100);
    embedded.pausePostgres();
    const since = performance.now();
    const refused = () => [load, retrying].map(({ posted }) => posted.filter(isRefused).length);
    const [before = 0, retryingBefore = 0] = refused();
    // A client that waits for its answer posts nothing more, and pauses after a refusal: these are one of each at least.
    await vi.waitUntil(
      () => {
        const [now = 0, retryingNow = 0] = refused();
        return now >= before + 24 && retryingNow >= retryingBefore + 8;
      },
      { timeout: 30_000, interval: 10 },
    );
    expect(performance.now() - since).toBeLessThan(limitMs);
    embedded.resumePostgres();
    await load.storesMore(50);
  }
  await Promise.all([load.stop(), retrying.stop()]);
  for (const { answer } of [...load.posted, ...retrying.posted]) expect([201, 503]).toContain(answer?.status);
  expect(retrying.posted.length, "some posts were refused").toBeGreaterThan(retrying.stored.length);
  expect(await brokenPromises(embedded.fixtures, load)).toEqual([]);
  expect(await brokenPromises(embedded.fixtures, retrying)).toEqual([]);
  expect(await ledgerDifferences(embedded.fixtures)).toEqual([]);
});

test("Answers 503 for an unacknowledged commit, whose retry counts once", async () => {
  const { adminUrl } = embedded;
  const body = costMessage({ label: "in doubt" }, { idempotency_key: "in doubt" });
  const block = await blockWrites(adminUrl);
  const posted = timed(() => key().post(body));
  await block.holdsUp(1);
  // Its rows and its commit have reached the server, and wait there for the lock.
  embedded.pausePostgres();
  const { status, body: refusal, tookMs } = await posted;
  expect([status, refusal.error]).toEqual([503, "unavailable"]);
  expect(String(refusal.error_description)).toContain("a retry is never counted twice");
  expect(tookMs).toBeLessThan(limitMs);
  embedded.resumePostgres();
  await block.release();
  await expect.poll(async () => (await key().post(body)).status, { timeout: 15_000 }).toBe(201);
  const { rows } = await embedded.fixtures.sql.query(
    "select count(*)::int as stored from public.messages where label = 'in doubt'",
  );
  expect(rows).toEqual([{ stored: 1 }]);
  expect(await ledgerDifferences(embedded.fixtures)).toEqual([]);
});

test("Does not treat a long lock as an outage: answers others and records the call", async () => {
  const block = await blockWrites(embedded.adminUrl);
  const posted = key().post(costMessage({ label: "held up" }));
  await block.holdsUp(1);
  // Long enough that the database is probed, and answers.
  const until = performance.now() + 4_000;
  while (performance.now() < until) {
    expect((await user.get("/api/v1/me")).status).toBe(200);
    expect((await health()).status).toBe(200);
  }
  await block.release();
  expect((await posted).status).toBe(201);
});
