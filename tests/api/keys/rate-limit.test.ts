import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { type Answer, apiClient, costMessage } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness({ services: 2 });

const clientsOf = (secret: string) => harness.services.map(({ baseUrl }) => apiClient(baseUrl, secret));

/** The time a message was admitted at, by the database's clock, ms. */
const admittedAt = ({ body }: Answer) => Date.parse(String(body.created_at));

/** The most admissions that any span of `spanMs` (closed at its start, open at its end) holds. */
function mostWithin(times: number[], spanMs: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return Math.max(
    ...sorted.map((start) => sorted.filter((time) => time >= start && time < start + spanMs).length),
  );
}

/** Moves everything a key's window remembers into the past, as if that much time had gone by. */
async function letTimePass(keyId: string, ms: number): Promise<void> {
  await harness.fixtures.sql.query(
    "update private.rate_windows set at = at - make_interval(secs => $2::numeric / 1000) where api_key_id = $1",
    [keyId, ms],
  );
}

test("Admits at most 30 in any 60 seconds on two processes, with an exact Retry-After", {
  timeout: 200_000,
}, async () => {
  const { secret } = await harness.fixtures.key(await harness.fixtures.workspace(), { rate_limit_rpm: 30 });
  const clients = clientsOf(secret);
  const admitted: number[] = [];
  const burst = async (size: number) => {
    const answers = await Promise.all(
      Array.from({ length: size }, (_, index) => clients[index % 2]?.post(costMessage()) as Promise<Answer>),
    );
    admitted.push(...answers.filter(({ status }) => status === 201).map(admittedAt));
    return answers;
  };
  // 15 now, then 40 across the edge of a clock minute, then on until two windows have gone by.
  expect((await burst(15)).every(({ status }) => status === 201)).toBe(true);
  const untilMinute = 60_000 - (Date.now() % 60_000);
  await wait(Math.min(untilMinute, 45_000) - 500);
  await burst(20);
  await wait(1_000);
  const refused = (await burst(20)).find(({ status }) => status === 429);
  const retryAfter = Number(refused?.headers.get("retry-after"));
  expect(retryAfter).toBeGreaterThan(0);
  // Shortly before the time named there is no place yet; at that time there is.
  await wait(retryAfter * 1000 - 2_000);
  expect((await clients[0]?.post(costMessage()))?.status).toBe(429);
  await wait(2_050);
  const [first] = await burst(1);
  expect(first?.status).toBe(201);
  const end = Date.now() + 35_000;
  while (Date.now() < end) {
    await burst(6);
    await wait(2_000);
  }
  // 15 at first, 15 across the edge, and the first 15 places again a minute later.
  expect(admitted.length).toBeGreaterThanOrEqual(45);
  expect(mostWithin(admitted, 60_000)).toBe(30);
});

test("Does not extend the window by refused requests, and frees a place when the oldest leaves", async () => {
  const { id, secret } = await harness.fixtures.key(await harness.fixtures.workspace(), {
    rate_limit_rpm: 3,
  });
  const [client] = clientsOf(secret);
  for (let use = 0; use < 3; use += 1) expect((await client?.post(costMessage()))?.status).toBe(201);
  await letTimePass(id, 30_000);
  for (let use = 0; use < 20; use += 1) expect((await client?.post(costMessage()))?.status).toBe(429);
  await letTimePass(id, 30_000);
  for (let use = 0; use < 3; use += 1) expect((await client?.post(costMessage()))?.status).toBe(201);
  expect((await client?.post(costMessage()))?.status).toBe(429);
});

test("Counts reads, other refusals and dry runs once each, and refused keys not at all", async () => {
  const { secret } = await harness.fixtures.key(await harness.fixtures.workspace(), { rate_limit_rpm: 4 });
  const [client, other] = clientsOf(secret);
  expect((await client?.get("/api/v1/summary/month"))?.headers.get("ratelimit")).toBe('"key";r=3;t=60');
  expect((await other?.post("{"))?.headers.get("ratelimit")).toMatch(/^"key";r=2;/);
  expect((await client?.post(costMessage(), {}, "?dry_run=true"))?.status).toBe(201);
  expect((await other?.get("/api/v1/projects/nothing/spend"))?.status).toBe(404);
  expect((await client?.get("/api/v1/summary/month"))?.status).toBe(429);
  expect((await other?.post(costMessage()))?.status).toBe(429);
});

test("Counts a read without permission like any other", async () => {
  const { secret } = await harness.fixtures.key(await harness.fixtures.workspace(), {
    rate_limit_rpm: 2,
    permissions: ["log_usage"],
  });
  const [client] = clientsOf(secret);
  for (const left of [1, 0]) {
    const denied = await client?.get("/api/v1/summary/month");
    expect([denied?.status, denied?.headers.get("ratelimit")]).toMatchObject([
      403,
      expect.stringMatching(new RegExp(`^"key";r=${left};`)),
    ]);
  }
  expect((await client?.get("/api/v1/summary/month"))?.status).toBe(429);
  expect((await client?.post(costMessage()))?.status).toBe(429);
});

test("Admits no more when the clock is set back", async () => {
  const { id, secret } = await harness.fixtures.key(await harness.fixtures.workspace(), {
    rate_limit_rpm: 4,
  });
  const [client, other] = clientsOf(secret);
  for (let use = 0; use < 2; use += 1) expect((await client?.post(costMessage()))?.status).toBe(201);
  // Half a minute back: the window is ahead of the clock by as much.
  await letTimePass(id, -30_000);
  expect((await client?.post(costMessage()))?.status).toBe(201);
  expect((await other?.get("/api/v1/summary/month"))?.status).toBe(200);
  for (const each of [client, other]) expect((await each?.post(costMessage()))?.status).toBe(429);
  const { rows } = await harness.fixtures.sql.query(
    "select array_agg(at order by total) = array_agg(at order by at) as in_order from private.rate_windows where api_key_id = $1",
    [id],
  );
  expect(rows).toEqual([{ in_order: true }]);
});

test("Enforces a changed limit from the next call on, higher or lower", async () => {
  const { id, secret } = await harness.fixtures.key(await harness.fixtures.workspace(), {
    rate_limit_rpm: 10,
  });
  const [client] = clientsOf(secret);
  const setLimit = (rpm: number) =>
    harness.fixtures.sql.query("update public.api_keys set rate_limit_rpm = $2 where id = $1", [id, rpm]);
  for (let use = 0; use < 6; use += 1) expect((await client?.post(costMessage()))?.status).toBe(201);
  await setLimit(4);
  expect((await client?.post(costMessage()))?.status).toBe(429);
  await setLimit(8);
  expect((await client?.post(costMessage()))?.status).toBe(201);
  expect((await client?.post(costMessage()))?.status).toBe(201);
  expect((await client?.post(costMessage()))?.status).toBe(429);
});
