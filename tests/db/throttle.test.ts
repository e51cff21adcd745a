import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { accountQuota, addressQuota, type Quota, throttle } from "@/lib/access/throttle";
import { ServiceError } from "@/lib/errors";
import { connectService } from "@/tests/helpers/connect-service";
import type { TestDatabase } from "@/tests/helpers/database";
import type { Fixtures } from "@/tests/helpers/keys";
import { withDatabase } from "@/tests/helpers/with-database";

let database: TestDatabase;
let fixtures: Fixtures;

withDatabase((open) => {
  ({ database, fixtures } = open);
});
connectService(() => database);

const minuteMs = 60_000;
const someone = (limit: number, windowMs = 10 * minuteMs) => accountQuota(randomUUID(), limit, windowMs);
const attempt = (quotas: Quota[]) =>
  throttle("trials", quotas).then(
    () => "admitted",
    (error: unknown) => (error instanceof ServiceError ? error : Promise.reject(error)),
  );
const storedRows = async () =>
  (await fixtures.sql.query("select subject, moments, ends_at from private.throttle_windows")).rows;

/** Ages everything that was counted. */
const age = (seconds: number) =>
  fixtures.sql.query(
    `update private.throttle_windows as t
     set moments = array(select m - make_interval(secs => $1) from unnest(t.moments) as m order by m),
       ends_at = ends_at - make_interval(secs => $1)`,
    [seconds],
  );

describe("A quota", () => {
  test("Admits exactly its limit of attempts at once", async () => {
    const quota = someone(5);
    const outcomes = await Promise.all(Array.from({ length: 30 }, () => attempt(quota)));
    expect(outcomes.filter((outcome) => outcome === "admitted")).toHaveLength(5);
  });

  test("Reports exactly when there is room again, unaffected by refused attempts", async () => {
    const quota = someone(2);
    await attempt(quota);
    await age(400);
    await attempt(quota);
    const refusals = [await attempt(quota), await attempt(quota), await attempt(quota)];
    const { fields, headers, message } = refusals[0] as ServiceError;
    const seconds = Number(fields.retry_after_seconds);
    expect(fields.limit).toBe(2);
    expect(headers["Retry-After"]).toBe(String(seconds));
    expect(message).toBe(`Too many trials: 2 are allowed in any 10 minutes. Try again in ${seconds} s.`);
    // The first leaves the window after 600 s, 400 of which have passed; a busy machine may take a few itself.
    expect(seconds).toBeGreaterThan(190);
    await age(seconds - 10);
    expect(await attempt(quota)).not.toBe("admitted");
    await age(10);
    expect(await attempt(quota)).toBe("admitted");
    expect(await attempt(quota)).not.toBe("admitted");
  });

  test("Does not count an attempt against others when it is full", async () => {
    const [full, open] = [someone(1), someone(3)];
    await attempt(full);
    for (let time = 0; time < 5; time += 1)
      expect(await attempt([...open, ...full])).toMatchObject({ fields: { limit: 1 } });
    for (let time = 0; time < 3; time += 1) expect(await attempt(open)).toBe("admitted");
    expect(await attempt(open)).not.toBe("admitted");
  });

  test("Never deadlocks over several subjects in any order", async () => {
    const quotas = [someone(1000), someone(1000), someone(1000)].flat();
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, (_, index) => attempt(index % 2 ? quotas : [...quotas].reverse())),
    );
    expect(new Set(outcomes)).toEqual(new Set(["admitted"]));
  });
});

test("Forgets what has left its window and stores no subject in the clear", async () => {
  for (let time = 0; time < 8; time += 1) await attempt(someone(3));
  await age(3600);
  const email = "ada@example.com";
  await attempt(accountQuota(email, 3, minuteMs));
  await attempt(accountQuota(email, 3, minuteMs));
  const rows = await storedRows();
  expect(rows).toHaveLength(1);
  expect(rows[0].moments).toHaveLength(2);
  expect(rows[0].subject.toString("latin1")).not.toContain("ada");
});

test.each([
  ["203.0.113.7", "203.0.113.7", true],
  ["203.0.113.7", "203.0.113.8", false],
  ["::ffff:203.0.113.7", "203.0.113.7", true],
  ["2001:db8:1:2::5", "2001:db8:1:2:ffff::9", true],
  ["2001:db8:1:2::5", "2001:db8:1:3::5", false],
])("Treats %s and %s as one subject: %s", (one, other, same) => {
  const [first, second] = [addressQuota(one, 1, 1), addressQuota(other, 1, 1)];
  expect(JSON.stringify(first) === JSON.stringify(second)).toBe(same);
  expect(first).toHaveLength(1);
});

test.each([undefined, "127.0.0.1", "::1", "::ffff:127.0.0.1", "not an address"])(
  "Counts nothing for %s, which does not identify a caller",
  (address) => expect(addressQuota(address, 1, 1)).toEqual([]),
);
