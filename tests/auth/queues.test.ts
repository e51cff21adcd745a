import { availableParallelism } from "node:os";
import { expect, test, vi } from "vitest";
import { makeClient, must, someEmail, somePassword, withAuthServer } from "@/tests/helpers/auth-server";

const hashesAtOnce = Math.min(4, Math.max(1, Math.floor(availableParallelism() / 2)));
const server = withAuthServer();

async function signUp(): Promise<string> {
  const { session } = must(
    await makeClient(server.url, server.key).auth.signUp({ email: someEmail(), password: somePassword }),
  );
  return session?.access_token ?? "";
}

async function call(path: string, token: string | null, method = "GET", body?: object) {
  const answer = await fetch(server.url + path, {
    method,
    headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, retryAfter: answer.headers.get("retry-after"), body: await answer.json() };
}

/** Locks a table, so that statements that need it wait until the lock is released. */
async function hold(table: string) {
  await server.sql.query(`begin; lock table ${table} in access exclusive mode`);
  return () => server.sql.query("commit");
}

const heldUp = async () => {
  const { rowCount } = await server.sql.query(
    "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  );
  return rowCount;
};

test("Refuses all but 18 of 150 parallel requests of one session before it queries the database", async () => {
  const [token, other] = [await signUp(), await signUp()];
  const release = await hold("auth.sessions");
  let refused = 0;
  const since = performance.now();
  const answers = Array.from({ length: 150 }, async () => {
    const answer = await call("/auth/v1/user", token, "PUT", { data: {} });
    if (answer.status === 429) refused += 1;
    return answer;
  });
  await vi.waitFor(() => expect(refused).toBe(132), { timeout: 20_000 });
  // A refusal is delayed for a second, so that a program that retries at once does not cause a load.
  expect(performance.now() - since).toBeGreaterThan(950);
  expect(await heldUp()).toBe(2);
  expect((await call("/api/v1/me", other)).status).toBe(200);
  await release();
  const all = await Promise.all(answers);
  expect(all.filter(({ status }) => status === 200)).toHaveLength(18);
  for (const { status, retryAfter, body } of all.filter((answer) => answer.status !== 200))
    expect([status, retryAfter, body.code]).toEqual([429, "1", "over_request_rate_limit"]);
  expect((await call("/auth/v1/user", token)).status).toBe(200);
});

test("Uses at most half of the connections that record for the local sign-in", async () => {
  const token = await signUp();
  const release = await hold("auth.refresh_tokens");
  const answers = Array.from({ length: 12 }, () =>
    call("/auth/v1/token?grant_type=refresh_token", null, "POST", { refresh_token: "nobody's" }),
  );
  await vi.waitFor(async () => expect(await heldUp()).toBe(2), { timeout: 20_000 });
  for (let count = 0; count < 5; count += 1) expect((await call("/api/v1/me", token)).status).toBe(200);
  expect(await heldUp()).toBe(2);
  await release();
  for (const { status, body } of await Promise.all(answers))
    expect([status, body.code]).toEqual([400, "refresh_token_not_found"]);
});

test("Answers a session whose limit is used up only a few times a second", async () => {
  const token = await signUp();
  const change = () => call("/auth/v1/user", token, "PUT", { data: {} });
  for (let count = 0; count < 30; count += 1) expect((await change()).status).toBe(200);
  const since = performance.now();
  for (const { status, retryAfter } of await Promise.all(Array.from({ length: 14 }, change)))
    expect([status, Number(retryAfter) > 800]).toEqual([429, true]);
  // Two requests run at a time, and each keeps its place for a quarter of a second.
  expect(performance.now() - since).toBeGreaterThan(1_400);
});

test("Checks passwords a few at a time in a bounded queue, refuses more uncounted, and answers other calls", async () => {
  const email = someEmail();
  const { session } = must(
    await makeClient(server.url, server.key).auth.signUp({ email, password: somePassword }),
  );
  // A hash that takes as long as the test wants.
  await server.sql.query(`
    alter function local_auth.check_password(text, text) rename to really_check_password;
    create function local_auth.check_password(address text, secret text) returns uuid
    language plpgsql volatile security definer set search_path = '' as $$
    begin
      perform pg_catalog.pg_advisory_xact_lock(7);
      return local_auth.really_check_password(address, secret);
    end $$;
    grant execute on function local_auth.check_password(text, text) to outlay_service;
    select pg_advisory_lock(7)`);
  const signIn = (address: string, password: string) =>
    call("/auth/v1/token?grant_type=password", null, "POST", { email: address, password });
  let refused = 0;
  const answers = Array.from({ length: 21 * hashesAtOnce + 9 }, async () => {
    const answer = await signIn(someEmail("nobody"), "a wrong guess");
    if (answer.status === 429) refused += 1;
    return answer;
  });
  await vi.waitFor(() => expect(refused).toBe(9), { timeout: 20_000 });
  const waiting = await server.sql.query(
    "select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'",
  );
  expect(waiting.rowCount).toBe(hashesAtOnce);
  for (const path of ["/auth/v1/user", "/api/v1/me"])
    expect((await call(path, session?.access_token ?? "")).status).toBe(200);
  // More often than wrong passwords are allowed, and none of them counts.
  for (let count = 0; count < 12; count += 1)
    expect(await signIn(email, somePassword)).toMatchObject({ status: 429, retryAfter: "2" });

  await server.sql.query("select pg_advisory_unlock(7)");
  const all = await Promise.all(answers);
  expect(all.filter(({ status }) => status === 400)).toHaveLength(21 * hashesAtOnce);
  expect(all.filter(({ status, retryAfter }) => status === 429 && retryAfter === "2")).toHaveLength(9);
  expect((await signIn(email, somePassword)).status).toBe(200);
});
