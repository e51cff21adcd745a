import { beforeEach, describe, expect, test } from "vitest";
import { addChannel } from "@/tests/helpers/alerts";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam, type Team, type User } from "@/tests/helpers/team";

// Requests for more of a key's monthly limit.

const harness = withSharedHarness({ services: 2 });

let team: Team;
/** A key with a limit of $1, which the member `member` made. */
let key: { id: string; secret: string };

beforeEach(async () => {
  team = await makeTeam(harness);
  key = await limitedKey(team.users.member);
});

async function limitedKey(maker: User, more: object = {}) {
  const { status, body } = await maker.call("POST", `${team.path}/api-keys`, {
    name: "Nightly jobs",
    permissions: ["log_usage"],
    monthly_limit: 1,
    ...more,
  });
  expect(status).toBe(201);
  return body as { id: string; secret: string };
}

/** The day that many days from now, so that no test depends on when it runs. */
const dayIn = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const lastDay = dayIn(5);
const serviceAt = (process = 0) => harness.services[process]?.baseUrl ?? "";
const asKey = (process = 0) => apiClient(serviceAt(process), key.secret);
const spend = (amount: number, process = 0) => asKey(process).post(costMessage({ estimated_cost: amount }));

const request = (more: object = {}) => ({
  ...{ key_id: key.id, amount: 1, reason: "A launch", until: lastDay },
  ...more,
});
type Asked = { id: string; issues?: { path: string }[] } & Record<string, unknown>;
const ask = async (user: User, more: object = {}) => {
  const { status, body } = await user.call("POST", `${team.path}/budget-requests`, request(more));
  return { status, body: body as Asked };
};
const askAsKey = (more: object = {}) => asKey().call("POST", "/api/v1/budget-requests", request(more));
const decide = (user: User, id: unknown, decision: object = { decision: "approve" }) =>
  user.call("POST", `${team.path}/budget-requests/${id}/decision`, decision);
const readKey = async () => {
  const { body } = await team.users.viewer.get(`${team.path}/api-keys`);
  return (body.api_keys as Record<string, unknown>[]).find(({ id }) => id === key.id);
};
const limitOf = async () => {
  const { body } = await asKey().get("/api/v1/limits");
  return (body.key as { monthly_limit: unknown }).monthly_limit;
};

describe("A raise of a key's limit", () => {
  test("Is asked for as the refusal says, holds everywhere exactly, and ends by the clock", async () => {
    expect((await spend(1)).status).toBe(201);
    const refused = await spend(0.5);
    expect([refused.status, refused.body]).toMatchObject([
      402,
      {
        error: "monthly_limit_exceeded",
        how_to_ask: {
          page: expect.stringMatching(new RegExp(`/workspaces/ask\\?key=${key.id}$`)),
          api: "POST /api/v1/budget-requests",
          tool: "request_budget",
          key_id: key.id,
        },
      },
    ]);

    const asked = await askAsKey({ amount: 2 });
    expect([asked.status, asked.body]).toMatchObject([
      201,
      { state: "pending", amount: 2, budget: null, limited_key: { id: key.id, name: "Nightly jobs" } },
    ]);
    expect((await askAsKey()).status).toBe(409);
    expect((await spend(0.5)).status).toBe(402);
    const { body } = await decide(team.users.admin, asked.body.id, { decision: "approve", amount: 1.5 });
    expect(body).toMatchObject({ state: "approved", decision: { amount: 1.5, until: lastDay } });

    expect(await readKey()).toMatchObject({ monthly_limit: 1, raise: { amount: 2.5, until: lastDay } });
    expect(await limitOf()).toMatchObject({ limit_usd: 2.5, spent_usd: 1, remaining_usd: 1.5 });
    const reserve = (usd: number) =>
      asKey(1).call("POST", "/api/v1/reservations", {
        project: "checkout",
        message: {
          type: "usage",
          provider: "openai",
          unit_type: "requests",
          quantity: 1,
          estimated_cost: usd,
        },
      });
    expect((await reserve(1.51)).status).toBe(402);
    expect((await reserve(0.5)).status).toBe(201);
    expect(await limitOf()).toMatchObject({ limit_usd: 2.5, held_usd: 0.5, remaining_usd: 1 });
    expect((await spend(1, 1)).status).toBe(201);
    expect((await spend(0.01)).body).toMatchObject({ limit_usd: 2.5, spent_usd: 2, held_usd: 0.5 });

    // As if its last day were over: nothing runs in between.
    await harness.fixtures.sql.query(
      "update public.api_keys set raised_until = raised_until - 10 where id = $1",
      [key.id],
    );
    expect(await readKey()).toMatchObject({ monthly_limit: 1, raise: null });
    expect(await limitOf()).toMatchObject({ limit_usd: 1, remaining_usd: 0 });
    expect((await spend(0.01)).body).toMatchObject({ error: "monthly_limit_exceeded", limit_usd: 1 });
  });

  test("Admits on two processes no more than the raised limit while it is approved", async () => {
    const { body } = await askAsKey({ amount: 1 });
    const calls = Array.from({ length: 40 }, (_, index) => spend(0.1, index % 2));
    const approved = decide(team.users.admin, body.id);
    await Promise.all(calls);
    expect((await approved).status).toBe(200);
    await Promise.all(Array.from({ length: 30 }, (_, index) => spend(0.1, index % 2)));
    expect(await limitOf()).toMatchObject({ limit_usd: 2, spent_usd: 2, remaining_usd: 0 });
  });

  test("Is given once by eight who approve at once on two processes", async () => {
    const { body } = await askAsKey({ amount: 0.25 });
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => {
        const { token } = index % 3 === 0 ? team.users.owner : team.users.admin;
        const path = `${team.path}/budget-requests/${body.id}/decision`;
        return apiClient(serviceAt(index % 2), token).call("POST", path, { decision: "approve" });
      }),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([
      200,
      ...Array.from({ length: 7 }, () => 409),
    ]);
    expect(await readKey()).toMatchObject({ raise: { amount: 1.25 } });
  });

  test("Ends when it is ended, or the usual limit reaches it or is removed", async () => {
    const edit = (body: object) => team.users.member.call("PATCH", `${team.path}/api-keys/${key.id}`, body);
    const raise = async () => {
      const { body } = await ask(team.users.colleague);
      expect((await decide(team.users.admin, body.id)).status).toBe(200);
    };
    await raise();
    expect((await edit({ monthly_limit: 1.5 })).body).toMatchObject({ raise: { amount: 2 } });
    expect((await edit({ raise: null })).body).toMatchObject({ monthly_limit: 1.5, raise: null });
    await raise();
    expect((await edit({ monthly_limit: 5 })).body).toMatchObject({ monthly_limit: 5, raise: null });
    await raise();
    expect((await edit({ monthly_limit: null })).body).toMatchObject({ monthly_limit: null, raise: null });
    expect((await edit({ raise: { amount: 100, until: lastDay } })).status).toBe(400);
  });

  test("May be asked for as a share of the limit, also by a key that may not read spend", async () => {
    const more = { amount: undefined, percent: 12.5 };
    expect((await askAsKey(more)).body).toMatchObject({ amount: 0.13, percent: 12.5 });
    expect((await ask(team.users.colleague, more)).body).toMatchObject({ amount: 0.13 });
  });
});

describe("Who decides", () => {
  test("Owners, admins and who made the key up to half above the limit, but no author, other member or stranger", async () => {
    const { admin, owner, member, colleague, viewer, stranger } = team.users;
    const ofKey = await askAsKey();
    // Who made the key is the author of what the key asks.
    expect((await decide(member, ofKey.body.id)).status).toBe(403);
    const { body } = await ask(colleague);
    for (const [user, status] of [
      [colleague, 403],
      [viewer, 403],
      [stranger, 404],
    ] as const)
      expect((await decide(user, body.id)).status).toBe(status);
    const listed = (await member.get(`${team.path}/budget-requests`)).body.requests as Asked[];
    expect(listed.find(({ id }) => id === body.id)).toMatchObject({ can_decide: true, most: 0.5 });
    expect((await decide(member, body.id)).body.issues).toMatchObject([{ path: "amount" }]);
    expect((await decide(member, body.id, { decision: "approve", amount: 0.5 })).status).toBe(200);
    // A link that is opened again.
    expect((await decide(member, body.id)).status).toBe(409);
    expect((await decide(admin, body.id)).status).toBe(409);
    expect((await decide(owner, ofKey.body.id, { decision: "deny", answer: "Not now" })).body).toMatchObject({
      state: "denied",
      decision: { amount: null, answer: "Not now" },
    });
    expect(await readKey()).toMatchObject({ raise: { amount: 1.5 } });
  });

  test("Not who made the key once they only view", async () => {
    const { member, colleague } = team.users;
    await harness.fixtures.sql.query(
      "update public.workspace_members set role = 'viewer' where workspace_id = $1 and user_id = $2",
      [team.workspace, member.id],
    );
    const { body } = await ask(colleague, { amount: 0.1 });
    expect((await decide(member, body.id)).status).toBe(403);
    expect(await readKey()).toMatchObject({ raise: null });
  });

  test("Nobody once the key is revoked or has no limit", async () => {
    const { admin, colleague, member, owner } = team.users;
    const first = await ask(colleague);
    await member.call("PATCH", `${team.path}/api-keys/${key.id}`, { monthly_limit: null });
    expect((await decide(admin, first.body.id)).status).toBe(409);
    await member.call("PATCH", `${team.path}/api-keys/${key.id}`, { monthly_limit: 1 });
    await member.call("DELETE", `${team.path}/api-keys/${key.id}`);
    expect((await decide(admin, first.body.id)).status).toBe(409);
    const { requests } = (await owner.get(`${team.path}/budget-requests`)).body;
    expect(requests).toMatchObject([
      { state: "expired", limited_key: { name: "Nightly jobs" }, can_decide: false },
    ]);
  });
});

describe("Who may ask", () => {
  test("Members of the workspace, and the key itself", async () => {
    const { member, colleague, viewer, stranger } = team.users;
    for (const [user, status] of [
      [viewer, 403],
      [stranger, 404],
      [colleague, 201],
      [colleague, 409],
      [member, 201],
    ] as const)
      expect((await ask(user)).status).toBe(status);
    const limited = key;
    key = await limitedKey(member);
    expect((await askAsKey({ key_id: limited.id })).status).toBe(404);
    const unlimited = await limitedKey(member, { monthly_limit: null });
    expect((await ask(colleague, { key_id: unlimited.id })).body.issues).toMatchObject([{ path: "key_id" }]);
    const other = await makeTeam(harness);
    expect((await other.users.admin.call("POST", `${other.path}/budget-requests`, request())).status).toBe(
      400,
    );
    key = unlimited;
    expect((await askAsKey()).status).toBe(404);
  });

  test.each([
    [{ key_id: undefined }, "budget_id"],
    [{ budget_id: "00000000-0000-4000-8000-000000000000" }, "key_id"],
    [{ amount: 0 }, "amount"],
    [{ until: dayIn(-2) }, "until"],
  ])("With exactly one limit, and what is wrong is named: %o", async (more, path) => {
    const { status, body } = await ask(team.users.colleague, more);
    expect([status, body.issues?.map((issue) => issue.path)]).toEqual([400, [path]]);
  });
});

describe("Who learns of it", () => {
  const toldOf = async (id: unknown, state: string): Promise<string[]> => {
    const { rows } = await harness.fixtures.sql.query(
      `select coalesce(member_id, channel_id) as receiver from public.deliveries
       where workspace_id = $1 and kind in ('budget_request', 'budget_request_mail')
         and details ->> 'id' = $2 and details ->> 'state' = $3`,
      [team.workspace, id, state],
    );
    return rows.map(({ receiver }) => receiver).sort();
  };

  test("Who made the key, and channels of alerts about limits of keys but no pager; else owners and admins", async () => {
    const { admin, owner, member, colleague } = team.users;
    const chat = await addChannel(harness.fixtures, team.workspace, { name: "Chat" });
    await addChannel(harness.fixtures, team.workspace, {
      name: "Pager",
      kind: "pagerduty",
      address: "us R0",
    });
    const others = await addChannel(harness.fixtures, team.workspace, { name: "Others" });
    await harness.fixtures.sql.query(
      "update public.alert_channels set rules = '{key_expiry}' where id = $1",
      [others],
    );
    const { body } = await ask(colleague);
    expect(await toldOf(body.id, "pending")).toEqual([chat, member.id].sort());
    await decide(admin, body.id);
    expect(await toldOf(body.id, "approved")).toEqual([chat, member.id, colleague.id].sort());
    const ofKey = await askAsKey();
    expect(await toldOf(ofKey.body.id, "pending")).toEqual([chat, admin.id, owner.id].sort());
  });

  test("The audit log, which names the key that asked, who decided, and the raise", async () => {
    const { body } = await askAsKey();
    await decide(team.users.admin, body.id);
    const { body: log } = await team.users.owner.get(`${team.path}/audit?limit=3`);
    const entries = (log.entries as { action: string; actor: { user_id: string } | null; key: unknown }[])
      .map(({ action, actor, key: by }) => ({ action, actor: actor?.user_id ?? null, by }))
      .sort((a, b) => (a.action < b.action ? -1 : 1));
    expect(entries).toEqual([
      { action: "api_key.changed", actor: team.users.admin.id, by: null },
      { action: "budget_request.changed", actor: team.users.admin.id, by: null },
      { action: "budget_request.created", actor: null, by: { id: key.id, name: "Nightly jobs" } },
    ]);
  });
});
