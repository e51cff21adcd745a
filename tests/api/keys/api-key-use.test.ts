import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam, type Team } from "@/tests/helpers/team";

// What is recorded of a key in use: what it spent, when it was last used, who changed it, how many secrets were made.

const harness = withSharedHarness();
const baseUrl = () => harness.services[0]?.baseUrl ?? "";

let team: Team;
beforeAll(async () => {
  team = await makeTeam(harness);
});
beforeEach(async () => {
  await harness.fixtures.sql.query("delete from private.throttle_windows");
});

type Key = Record<string, unknown> & { id: string; secret: string };
const keys = () => `${team.path}/api-keys`;
const create = () =>
  team.users.owner.call("POST", keys(), { name: "CI", permissions: ["log_usage", "read_summaries"] });
const created = async () => (await create()).body as Key;
const edit = (id: string, body: unknown) => team.users.owner.call("PATCH", `${keys()}/${id}`, body);
const listed = async (id: string) =>
  ((await team.users.viewer.get(keys())).body.api_keys as Key[]).find((key) => key.id === id);
const using = ({ secret }: { secret: string }) => apiClient(baseUrl(), secret);
const codeOf = ({ status, body }: { status: number; body: Record<string, unknown> }) =>
  `${status} ${body.error ?? "ok"}`;

test("Reports as spent exactly the sum of the key's rows this month", async () => {
  const [one, other] = [await created(), await created()];
  for (const cost of ["0.1", "0.2", "0.000000000000000003"]) {
    const body = JSON.stringify(costMessage()).replace("0.01", cost);
    expect((await using(one).post(body)).status).toBe(201);
  }
  await using(other).post(costMessage({ estimated_cost: 7 }));
  const response = await fetch(baseUrl() + keys(), {
    headers: { authorization: `Bearer ${team.users.viewer.token}` },
  });
  const text = await response.text();
  const { rows } = await harness.fixtures.sql.query(
    "select trim_scale(sum(amount_usd))::text as sum from public.messages where api_key_id = $1",
    [one.id],
  );
  expect(rows[0].sum).toBe("0.300000000000000003");
  expect(text).toContain(`"spent":0.300000000000000003`);
  expect(await listed(other.id)).toMatchObject({ spent: 7 });
});

describe("The last use", () => {
  const age = (id: string, seconds: number) =>
    harness.fixtures.sql.query(
      "update public.api_keys set last_used_at = now() - make_interval(secs => $2) where id = $1",
      [id, seconds],
    );
  const lastUse = async (id: string) => {
    const used = (await listed(id))?.last_used_at as string | null;
    return used === null ? null : Date.parse(used);
  };

  test.each<[string, (key: Key) => Promise<unknown>]>([
    ["recording", (key) => using(key).post(costMessage())],
    ["reading", (key) => using(key).get("/api/v1/summary/month")],
    [
      "a refused call of a revoked key",
      async (key) => {
        await team.users.owner.call("DELETE", `${keys()}/${key.id}`);
        expect(codeOf(await using(key).get("/api/v1/summary/month"))).toBe("401 key_revoked");
      },
    ],
  ])("is noted by %s", async (_, use) => {
    const key = await created();
    expect(await lastUse(key.id)).toBeNull();
    const before = Date.now();
    await use(key);
    await expect.poll(() => lastUse(key.id), { timeout: 30_000 }).toBeGreaterThanOrEqual(before - 1000);
  });

  test("Is updated after a minute, not before, and not audited", async () => {
    const key = await created();
    await age(key.id, 30);
    const recent = await lastUse(key.id);
    await using(key).post(costMessage());
    // The key that is due is noted after the one that is not, so once it shows, the other would have too.
    const due = await created();
    await age(due.id, 61);
    await using(due).post(costMessage());
    await expect.poll(() => lastUse(due.id), { timeout: 30_000 }).toBeGreaterThan(Date.now() - 30_000);
    expect(await lastUse(key.id)).toBe(recent);
    const { rows } = await harness.fixtures.sql.query(
      "select action from public.audit_log where subject = 'api_key ' || $1",
      [due.id],
    );
    expect(rows).toEqual([{ action: "api_key.created" }]);
  });
});

test("Audits every change with its author and never the secret", async () => {
  const key = await created();
  await edit(key.id, { monthly_limit: 9 });
  const rotated = await team.users.admin.call("POST", `${keys()}/${key.id}/rotate`);
  await team.users.admin.call("DELETE", `${keys()}/${key.id}`);
  const { rows } = await harness.fixtures.sql.query(
    "select action, actor_id, address, before, after from public.audit_log where subject = 'api_key ' || $1 order by at",
    [key.id],
  );
  const { owner, admin } = team.users;
  expect(rows.map(({ action, actor_id }) => [action, actor_id])).toEqual([
    ["api_key.created", owner.id],
    ["api_key.changed", owner.id],
    ["api_key.changed", admin.id],
    ["api_key.changed", admin.id],
  ]);
  expect(rows[1]).toMatchObject({ before: { monthly_limit: null }, after: { monthly_limit: 9 } });
  expect(rows.every(({ address }) => address === "127.0.0.1")).toBe(true);
  const text = JSON.stringify(rows);
  for (const secret of [key.secret, rotated.body.secret as string]) {
    expect(text).not.toContain(secret);
    expect(text).not.toContain(secret.slice(13, -4));
  }
  expect(text).not.toContain("hash");
});

test("Limits how many secrets an hour one person gets, over all workspaces", async () => {
  const { id } = await created();
  let answer = await create();
  for (let count = 2; answer.status !== 429 && count < 70; count += 1) answer = await create();
  expect(codeOf(answer)).toBe("429 rate_limited");
  expect(answer.body).toMatchObject({ limit: 60 });
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(3000);
  expect((await team.users.owner.call("POST", `${keys()}/${id}/rotate`)).status).toBe(429);
  expect((await edit(id, { name: "Still here" })).status).toBe(200);
  expect((await team.users.admin.call("POST", `${keys()}/${id}/rotate`)).status).toBe(200);
});
