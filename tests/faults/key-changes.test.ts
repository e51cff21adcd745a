import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { addUser, makeTeam, type Team, type User } from "@/tests/helpers/team";

// Two processes on one database: a change of a key by one applies to the next request to the other.

const harness = withSharedHarness({ services: 2 });
const at = (process: number) => harness.services[process % 2]?.baseUrl ?? "";
const rounds = 10;

let team: Team;
/** Several, so that no quota of new secrets is reached. */
let admins: User[];
beforeAll(async () => {
  team = await makeTeam(harness);
  admins = await Promise.all(Array.from({ length: 4 }, () => addUser(harness, team.workspace, "admin")));
});

beforeEach(async () => {
  await harness.fixtures.sql.query("delete from private.throttle_windows");
});

type Key = { id: string; secret: string; rotated_at: string };
const asAdmin = (process: number, turn = process) =>
  apiClient(at(process), admins[turn % admins.length]?.token ?? "");
const keys = () => `${team.path}/api-keys`;
const change = async (process: number, turn: number, method: string, path: string, body?: unknown) => {
  const answer = await asAdmin(process, turn).call(method, keys() + path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body as unknown as Key;
};
const create = (turn: number, body: Record<string, unknown> = {}) =>
  change(turn, turn, "POST", "", { name: "CI", permissions: ["log_usage", "read_summaries"], ...body });
/** What a process answers to a secret that reads and to one that records. */
const ask = async (process: number, secret: string) => {
  const client = apiClient(at(process), secret);
  const answers = await Promise.all([client.get("/api/v1/summary/month"), client.post(costMessage())]);
  return answers.map(({ status, body }) => `${status} ${body.error ?? "ok"}`);
};
const admitted = ["200 ok", "201 ok"];

test(`Refuses a rotated secret on the other process's next request, ${rounds} times`, async () => {
  const key = await create(0);
  let { secret } = key;
  for (let turn = 0; turn < rounds; turn += 1) {
    const next = await change(turn, turn, "POST", `/${key.id}/rotate`);
    expect([turn, await ask(turn + 1, secret)]).toEqual([
      turn,
      ["401 invalid_credentials", "401 invalid_credentials"],
    ]);
    expect([turn, await ask(turn + 1, next.secret)]).toEqual([turn, admitted]);
    secret = next.secret;
  }
});

test(`Refuses a revoked key on the other process's next request, ${rounds} times`, async () => {
  for (let turn = 0; turn < rounds; turn += 1) {
    const key = await create(turn);
    expect([turn, await ask(turn + 1, key.secret)]).toEqual([turn, admitted]);
    await change(turn, turn, "DELETE", `/${key.id}`);
    expect([turn, await ask(turn + 1, key.secret)]).toEqual([turn, ["401 key_revoked", "401 key_revoked"]]);
  }
});

describe("An edit by one process holds for the other's next request", () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>, string[]]>([
    [
      "addresses",
      { allowed_cidrs: ["203.0.113.0/24"] },
      { allowed_cidrs: null },
      ["403 ip_not_allowed", "403 ip_not_allowed"],
    ],
    ["limit", { monthly_limit: 0 }, { monthly_limit: null }, ["200 ok", "402 monthly_limit_exceeded"]],
    [
      "permissions",
      { permissions: ["read_summaries"] },
      { permissions: ["log_usage", "read_summaries"] },
      ["200 ok", "403 permission_denied"],
    ],
    [
      "sources",
      { conditions: { sources: ["mcp"] } },
      { conditions: null },
      ["200 ok", "403 source_not_allowed"],
    ],
  ])("With changed %s", async (_, closed, open, refused) => {
    const { id, secret } = await create(0);
    for (let turn = 0; turn < 5; turn += 1) {
      await change(turn, turn, "PATCH", `/${id}`, closed);
      expect([turn, await ask(turn + 1, secret)]).toEqual([turn, refused]);
      await change(turn, turn, "PATCH", `/${id}`, open);
      expect([turn, await ask(turn + 1, secret)]).toEqual([turn, admitted]);
    }
  });

  test("With a changed expiry, at its exact time", async () => {
    const { id, secret } = await create(0);
    await change(0, 0, "PATCH", `/${id}`, { expires_at: new Date(Date.now() + 1_500).toISOString() });
    expect(await ask(1, secret)).toEqual(admitted);
    await expect
      .poll(() => ask(1, secret), { timeout: 30_000 })
      .toEqual(["401 key_expired", "401 key_expired"]);
    await change(0, 0, "PATCH", `/${id}`, { expires_at: null });
    expect(await ask(1, secret)).toEqual(admitted);
  });
});

test("Leaves exactly one working secret after rotations at once: that of the latest rotated_at", async () => {
  const { id } = await create(0);
  for (let round = 0; round < 10; round += 1) {
    const answers = await Promise.all(
      [0, 1, 2, 3].map((turn) => change(turn, turn + round, "POST", `/${id}/rotate`)),
    );
    expect(new Set(answers.map((each) => each.rotated_at)).size).toBe(answers.length);
    const [latest, ...dead] = answers.sort((a, b) => b.rotated_at.localeCompare(a.rotated_at));
    expect(await ask(round, latest?.secret ?? "")).toEqual(admitted);
    for (const { secret } of dead) expect((await ask(round, secret))[0]).toBe("401 invalid_credentials");
  }
});

test("Leaves a revoked key without a working secret after a rotation and a revocation at once", async () => {
  for (let round = 0; round < 10; round += 1) {
    const key = await create(round);
    const [rotation] = await Promise.all([
      asAdmin(0, round).call("POST", `${keys()}/${key.id}/rotate`),
      change(1, round + 1, "DELETE", `/${key.id}`),
    ]);
    expect([200, 409]).toContain(rotation.status);
    const secrets = [key.secret, ...(rotation.status === 200 ? [String(rotation.body.secret)] : [])];
    for (const secret of secrets) {
      expect((await ask(round, secret))[0]).toMatch(/^401 (key_revoked|invalid_credentials)$/);
    }
  }
});

test("Keeps both of two edits at once", async () => {
  const { id } = await create(0);
  for (let round = 0; round < 10; round += 1) {
    await Promise.all([
      change(0, 0, "PATCH", `/${id}`, { conditions: { features: [`f-${round}`] } }),
      change(1, 1, "PATCH", `/${id}`, { conditions: { sources: round % 2 ? ["api"] : ["mcp"] } }),
    ]);
    const { rows } = await harness.fixtures.sql.query(
      "select conditions from public.api_keys where id = $1",
      [id],
    );
    expect(rows[0].conditions).toEqual({ features: [`f-${round}`], sources: round % 2 ? ["api"] : ["mcp"] });
  }
});

test("Records a last use while a busy key's calls wait for its lock, without delaying them", async () => {
  const key = await harness.fixtures.key(team.workspace, { monthly_limit: "1000000" });
  const readLastUse = async () =>
    (await harness.fixtures.sql.query("select last_used_at from public.api_keys where id = $1", [key.id]))
      .rows[0].last_used_at;
  let isNoted = false;
  const statuses: number[] = [];
  const clients = Array.from({ length: 16 }, async (_, process) => {
    while (!isNoted) statuses.push((await apiClient(at(process), key.secret).post(costMessage())).status);
  });
  await expect
    .poll(readLastUse, { timeout: 15_000 })
    .not.toBeNull()
    .finally(() => {
      isNoted = true;
    });
  await Promise.all(clients);
  expect(statuses.filter((status) => status !== 201)).toEqual([]);
});

test("Records a last use before the service stops", async () => {
  const service = await harness.start();
  const key = await harness.fixtures.key(team.workspace, { monthly_limit: "5" });
  await apiClient(service.baseUrl, key.secret).post(costMessage());
  expect(await service.stop()).toBe(0);
  const { rows } = await harness.fixtures.sql.query(
    "select last_used_at from public.api_keys where id = $1",
    [key.id],
  );
  expect(rows[0].last_used_at).not.toBeNull();
});
