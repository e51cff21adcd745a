import { availableParallelism } from "node:os";
import { expect, test, vi } from "vitest";
import { makeClient, must, someEmail, somePassword, withAuthServer } from "@/tests/helpers/auth-server";

const atOnce = Math.min(4, Math.max(1, Math.floor(availableParallelism() / 2)));
const many = 21 * atOnce + 9;
const server = withAuthServer();

test("Checks passwords a few at a time in a bounded queue while other calls are answered", async () => {
  const { auth } = makeClient(server.url);
  const { session } = must(await auth.signUp({ email: someEmail(), password: somePassword }));
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
  const signIn = async () => {
    const answer = await fetch(`${server.url}/auth/v1/token?grant_type=password`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email: someEmail("nobody"), password: "a wrong guess" }),
    });
    return { status: answer.status, retryAfter: answer.headers.get("retry-after") };
  };
  let refused = 0;
  const answers = Array.from({ length: many }, async () => {
    const answer = await signIn();
    if (answer.status === 429) refused += 1;
    return answer;
  });
  await vi.waitFor(() => expect(refused).toBe(9), { timeout: 20_000 });
  const waiting = await server.sql.query(
    "select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'",
  );
  expect(waiting.rowCount).toBe(atOnce);
  const me = { headers: { authorization: `Bearer ${session?.access_token}` } };
  for (const path of ["/auth/v1/user", "/api/v1/me"])
    expect((await fetch(server.url + path, me)).status).toBe(200);

  await server.sql.query("select pg_advisory_unlock(7)");
  const all = await Promise.all(answers);
  expect(all.filter(({ status }) => status === 400)).toHaveLength(many - 9);
  expect(all.filter(({ status, retryAfter }) => status === 429 && retryAfter === "2")).toHaveLength(9);
});

test("Refuses a password that finds the queue full before counting it as a guess or an attempt", async () => {
  const { auth } = makeClient(server.url);
  const [email, password] = [someEmail(), somePassword];
  must(await auth.signUp({ email, password }));
  await server.sql.query("select pg_advisory_lock(7)");
  const signIn = async (address: string, secret: string) => {
    const answer = await fetch(`${server.url}/auth/v1/token?grant_type=password`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email: address, password: secret }),
    });
    return answer.status;
  };
  let refused = 0;
  const others = Array.from({ length: 21 * atOnce + 1 }, async () => {
    if ((await signIn(someEmail("nobody"), "a wrong guess")) === 429) refused += 1;
  });
  await vi.waitFor(() => expect(refused).toBe(1), { timeout: 20_000 });
  for (let count = 0; count < 12; count += 1) expect(await signIn(email, password)).toBe(429);
  await server.sql.query("select pg_advisory_unlock(7)");
  await Promise.all(others);
  expect(await signIn(email, password)).toBe(200);
});
