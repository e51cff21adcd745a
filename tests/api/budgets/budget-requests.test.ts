import { beforeEach, describe, expect, test } from "vitest";
import { addChannel } from "@/tests/helpers/alerts";
import { blockingBudgetsOf } from "@/tests/helpers/blocking-budgets";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam, type Team, type User } from "@/tests/helpers/team";

const harness = withSharedHarness({ services: 2 });

let team: Team;
let key: { id: string; secret: string };

beforeEach(async () => {
  team = await makeTeam(harness);
  key = await harness.fixtures.key(team.workspace);
});

const { create, edit, read } = blockingBudgetsOf(() => team);

/** The day that many days from now, so that no test depends on when it runs. */
const dayIn = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const lastDay = dayIn(5);
const serviceAt = (process = 0) => harness.services[process]?.baseUrl ?? "";
const asKey = () => apiClient(serviceAt(), key.secret);
const spend = (amount: number) => asKey().post(costMessage({ estimated_cost: amount }));

type Asked = { id: string; state: string; [field: string]: unknown };
const ask = async (user: User, budgetId: string, more: object = {}) => {
  const request = { budget_id: budgetId, amount: 1, reason: "A launch", until: lastDay, ...more };
  const { status, body } = await user.call("POST", `${team.path}/budget-requests`, request);
  return { status, body: body as Asked & { issues?: { path: string; message: string }[]; error?: string } };
};
const askAsKey = (budgetId: string, more: object = {}) =>
  asKey().call("POST", "/api/v1/budget-requests", {
    budget_id: budgetId,
    amount: 1,
    reason: "A launch",
    until: lastDay,
    ...more,
  });
const decide = (user: User, id: string, decision: object = { decision: "approve" }) =>
  user.call("POST", `${team.path}/budget-requests/${id}/decision`, decision);
const listed = async (id: string, user = team.users.viewer) => {
  const { body } = await user.get(`${team.path}/budget-requests`);
  return (body.requests as Asked[]).find((request) => request.id === id);
};
/** To whom a request or its decision was queued, as ids of members and channels. */
const toldOf = async (id: string, state: string): Promise<string[]> => {
  const { rows } = await harness.fixtures.sql.query(
    `select coalesce(member_id, channel_id) as receiver from public.deliveries
     where workspace_id = $1 and kind in ('budget_request', 'budget_request_mail')
       and details ->> 'id' = $2 and details ->> 'state' = $3`,
    [team.workspace, id, state],
  );
  return rows.map(({ receiver }) => receiver).sort();
};

describe("A request that is approved", () => {
  test("Is asked as the refusal says, raises every figure of the budget exactly, and ends by the clock", async () => {
    const { id } = await create({ name: "All", amount: 1 });
    expect((await spend(1)).status).toBe(201);
    const refused = await spend(0.5);
    expect(refused.status).toBe(402);
    expect(refused.body.how_to_ask).toEqual({
      page: expect.stringMatching(new RegExp(`^http.*/workspaces/ask\\?budget=${id}$`)),
      api: "POST /api/v1/budget-requests",
      tool: "request_budget",
      budget_id: id,
    });

    const asked = await askAsKey(id);
    expect(asked.status).toBe(201);
    expect(asked.body).toMatchObject({
      state: "pending",
      amount: 1,
      budget: { id, name: "All", currency: "USD" },
    });
    expect((await spend(0.5)).status).toBe(402);
    const approved = await decide(team.users.admin, String(asked.body.id), {
      decision: "approve",
      amount: 0.5,
      answer: "Half of it",
    });
    expect(approved.body).toMatchObject({
      state: "approved",
      decision: { amount: 0.5, until: lastDay, answer: "Half of it", by: { id: team.users.admin.id } },
    });

    expect(await read(id)).toMatchObject({
      amount: 1.5,
      usual_amount: 1,
      remaining: 0.5,
      raise: { amount: 1.5, until: lastDay },
    });
    const status = await asKey().get("/api/v1/budgets/status");
    expect(status.body.budgets).toMatchObject([{ id, amount: 1.5, remaining: 0.5 }]);
    const limits = await asKey().get("/api/v1/limits");
    expect(limits.body.budgets).toMatchObject([
      { id, limit_usd: 1.5, remaining_usd: 0.5, is_used_up: false },
    ]);
    const own = await asKey().get("/api/v1/budget-requests");
    expect(own.body.requests).toMatchObject([
      { id: asked.body.id, state: "approved", decision: { amount: 0.5 } },
    ]);
    expect((await spend(0.5)).status).toBe(201);
    expect((await spend(0.01)).status).toBe(402);

    // As if its last day were over: nothing runs in between.
    await harness.fixtures.sql.query(
      "update public.budgets set raised_until = raised_until - 10 where workspace_id = $1 and id = $2",
      [team.workspace, id],
    );
    expect(await read(id)).toMatchObject({ amount: 1, spent: 1.5, remaining: -0.5, raise: null });
    expect((await spend(0.01)).body).toMatchObject({ error: "budget_exceeded", limit_usd: 1 });
  });

  test("Is approved once by eight who approve at once on two processes", async () => {
    const { id } = await create({ amount: 10 });
    const { body } = await ask(team.users.member, id, { amount: 2.5 });
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
    expect(await read(id)).toMatchObject({ amount: 12.5, raise: { amount: 12.5, until: lastDay } });
  });

  test("Adds to a raise that has not ended, and ends with it", async () => {
    const { id } = await create({ amount: 10 });
    const [first, second] = [
      await ask(team.users.member, id, { amount: 2 }),
      await ask(team.users.colleague, id, { amount: 3, until: dayIn(9) }),
    ];
    expect((await decide(team.users.admin, first.body.id)).status).toBe(200);
    expect(await listed(second.body.id, team.users.admin)).toMatchObject({ ends_with_raise: lastDay });
    const later = await decide(team.users.admin, second.body.id, { decision: "approve", until: dayIn(9) });
    expect(later.status).toBe(400);
    expect(later.body.issues).toMatchObject([{ path: "until" }]);
    const { body } = await decide(team.users.admin, second.body.id);
    expect(body).toMatchObject({ decision: { amount: 3, until: lastDay } });
    expect(await read(id)).toMatchObject({ amount: 15, raise: { amount: 15, until: lastDay } });
  });

  test("May ask for a share of the limit, which a key may that reads it", async () => {
    const { id } = await create({ amount: 33.35 });
    expect((await ask(team.users.member, id, { amount: undefined, percent: 10 })).body).toMatchObject({
      amount: 3.34,
      percent: 10,
    });
    expect((await askAsKey(id, { amount: undefined, percent: 20 })).body).toMatchObject({
      amount: 6.67,
      percent: 20,
    });
    key = await harness.fixtures.key(team.workspace, { permissions: ["log_usage"] });
    const { status, body } = await askAsKey(id, { amount: undefined, percent: 20 });
    expect([status, body.issues]).toMatchObject([400, [{ path: "percent" }]]);
    expect((await askAsKey(id)).status).toBe(201);
  });

  test("Is granted in part, never beyond what was asked for", async () => {
    const { id } = await create({ amount: 10 });
    const { body } = await ask(team.users.member, id, { amount: 5 });
    for (const [more, path] of [
      [{ amount: 5.01 }, "amount"],
      [{ until: dayIn(6) }, "until"],
      [{ until: dayIn(-2) }, "until"],
    ] as const) {
      const answer = await decide(team.users.admin, body.id, { decision: "approve", ...more });
      expect([answer.status, answer.body.issues]).toMatchObject([400, [{ path }]]);
    }
    expect(
      (await decide(team.users.admin, body.id, { decision: "approve", amount: 5, until: dayIn(2) })).status,
    ).toBe(200);
    expect(await read(id)).toMatchObject({ amount: 15, raise: { until: dayIn(2) } });
  });
});

describe("Who decides", () => {
  test("Nobody their own request, nor one of a key that they made", async () => {
    const { id } = await create({ amount: 10 });
    const own = await ask(team.users.admin, id);
    await harness.fixtures.sql.query("update public.api_keys set created_by = $2 where id = $1", [
      key.id,
      team.users.admin.id,
    ]);
    const ofKey = await askAsKey(id);
    for (const request of [own.body.id, String(ofKey.body.id)]) {
      const { status, body } = await decide(team.users.admin, request);
      expect([status, body.error]).toEqual([403, "permission_denied"]);
      expect(await listed(request, team.users.admin)).toMatchObject({
        can_decide: false,
        can_withdraw: true,
      });
      expect(
        (await decide(team.users.owner, request, { decision: "deny", answer: "Not now" })).body,
      ).toMatchObject({
        state: "denied",
        decision: { amount: null, answer: "Not now" },
      });
      // A link that is opened again, and a decision that is sent again.
      expect((await decide(team.users.owner, request)).status).toBe(409);
    }
    expect(await read(id)).toMatchObject({ amount: 10, raise: null });
  });

  test("No member, viewer or stranger, and the budget's owner within what an admin lets them grant", async () => {
    const { id } = await create({ amount: 10 });
    const { body } = await ask(team.users.colleague, id, { amount: 6 });
    for (const [user, status] of [
      [team.users.member, 403],
      [team.users.viewer, 403],
      [team.users.stranger, 404],
    ] as const)
      expect((await decide(user, body.id)).status).toBe(status);
    await edit(id, { owner: { id: team.users.viewer.id, may_raise_percent: 50 } });
    expect(await listed(body.id, team.users.viewer)).toMatchObject({ can_decide: true, most: 5 });
    const over = await decide(team.users.viewer, body.id);
    expect([over.status, over.body.issues]).toMatchObject([400, [{ path: "amount" }]]);
    expect((await decide(team.users.viewer, body.id, { decision: "approve", amount: 5 })).status).toBe(200);
    // The share is of the usual limit, whatever was granted before.
    const again = await ask(team.users.member, id, { amount: 0.01 });
    expect((await decide(team.users.viewer, again.body.id)).status).toBe(400);
    expect((await decide(team.users.owner, again.body.id)).status).toBe(200);
    expect(await read(id)).toMatchObject({ amount: 15.01 });
  });

  test("Nobody once it is withdrawn, over, or its budget is deleted", async () => {
    const [gone, kept] = [await create({ amount: 10 }), await create({ amount: 10 })];
    const withdrawn = await ask(team.users.member, kept.id);
    const path = `${team.path}/budget-requests/${withdrawn.body.id}`;
    expect((await team.users.colleague.call("DELETE", path)).status).toBe(404);
    expect((await team.users.member.call("DELETE", path)).body).toMatchObject({ state: "withdrawn" });
    expect((await team.users.member.call("DELETE", path)).status).toBe(409);
    expect((await decide(team.users.admin, withdrawn.body.id)).status).toBe(409);

    const over = await ask(team.users.member, kept.id);
    await harness.fixtures.sql.query("update public.budget_requests set until = until - 10 where id = $1", [
      over.body.id,
    ]);
    expect(await listed(over.body.id)).toMatchObject({ state: "expired", can_decide: false });
    expect((await decide(team.users.admin, over.body.id)).status).toBe(409);
    expect((await ask(team.users.member, kept.id)).status).toBe(201);

    const orphan = await ask(team.users.member, gone.id);
    await team.users.owner.call("DELETE", `${team.path}/budgets/${gone.id}`);
    expect(await listed(orphan.body.id)).toMatchObject({ state: "expired", budget: { name: null } });
    expect((await decide(team.users.admin, orphan.body.id)).status).toBe(409);
    expect(await read(kept.id)).toMatchObject({ amount: 10, raise: null });
  });
});

describe("Who may ask", () => {
  test("Members of the workspace, and keys of budgets that count what they record", async () => {
    const { id } = await create({ amount: 10 });
    for (const [user, status] of [
      [team.users.viewer, 403],
      [team.users.stranger, 404],
      [team.users.member, 201],
      // Theirs waits already.
      [team.users.member, 409],
    ] as const)
      expect((await ask(user, id)).status).toBe(status);
    const other = await makeTeam(harness);
    key = await harness.fixtures.key(other.workspace);
    expect((await askAsKey(id)).status).toBe(404);
    key = await harness.fixtures.key(team.workspace, { environment: "test" });
    expect((await askAsKey(id)).status).toBe(404);
    const elsewhere = await harness.fixtures.key(team.workspace);
    const ofKey = await create({ scope_type: "key", scope_value: elsewhere.id, amount: 10 });
    key = await harness.fixtures.key(team.workspace);
    expect((await askAsKey(ofKey.id)).status).toBe(404);
    expect((await askAsKey(id)).status).toBe(201);
    expect((await asKey().get("/api/v1/budget-requests")).body.requests).toHaveLength(1);
  });

  test("At most 20 times in 24 hours, however many are withdrawn", async () => {
    const { id } = await create({ amount: 10 });
    for (let count = 0; count < 20; count += 1) {
      const { status, body } = await ask(team.users.member, id);
      expect(status).toBe(201);
      await team.users.member.call("DELETE", `${team.path}/budget-requests/${body.id}`);
    }
    expect((await ask(team.users.member, id)).status).toBe(409);
    expect((await ask(team.users.colleague, id)).status).toBe(201);
  });

  test.each([
    [{ amount: undefined }, "amount"],
    [{ percent: 5 }, "percent"],
    [{ amount: 0 }, "amount"],
    [{ reason: " " }, "reason"],
    [{ until: dayIn(-2) }, "until"],
    [{ budget_id: "00000000-0000-4000-8000-000000000000" }, "budget_id"],
  ])("Is refused with the field that is wrong: %o", async (more, path) => {
    const { id } = await create({ amount: 10 });
    const { status, body } = await ask(team.users.member, id, more);
    expect([status, body.issues?.map((issue) => issue.path)]).toEqual([400, [path]]);
  });
});

describe("Who is told", () => {
  test("The owner and whom the budget warns, but no pager; of the decision the author too", async () => {
    const { admin, owner, member, colleague, viewer } = team.users;
    const chat = await addChannel(harness.fixtures, team.workspace, { name: "Chat" });
    const pager = await addChannel(harness.fixtures, team.workspace, {
      name: "Pager",
      kind: "pagerduty",
      address: "us R0",
    });
    const { id } = await create({
      amount: 10,
      owner: { id: colleague.id },
      warns: { people: [viewer.id], channels: [chat, pager] },
    });
    const { body } = await ask(member, id);
    expect(await toldOf(body.id, "pending")).toEqual([chat, colleague.id, viewer.id].sort());
    await decide(colleague, body.id);
    expect(await toldOf(body.id, "approved")).toEqual([chat, member.id, viewer.id].sort());
    expect([admin, owner].map((each) => each.id)).not.toContain(colleague.id);
  });

  test("Owners and admins where the budget names nobody who can decide, and not the author", async () => {
    const { admin, owner, member, viewer } = team.users;
    const { id } = await create({ amount: 10, warns: { people: [viewer.id], channels: [] } });
    const { body } = await ask(member, id);
    expect(await toldOf(body.id, "pending")).toEqual([admin.id, owner.id, viewer.id].sort());
    const own = await ask(admin, id);
    expect(await toldOf(own.body.id, "pending")).toEqual([owner.id, viewer.id].sort());
    await decide(owner, own.body.id, { decision: "deny" });
    expect(await toldOf(own.body.id, "denied")).toEqual([admin.id, viewer.id].sort());
  });

  test("The audit log, of the request, the decision and the raise", async () => {
    const { id } = await create({ amount: 10 });
    const { body } = await ask(team.users.member, id);
    await decide(team.users.admin, body.id);
    const { rows } = await harness.fixtures.sql.query(
      `select action, actor_id, after ->> 'state' as state, after ->> 'raised_amount' as raised from public.audit_log
       where workspace_id = $1 and action ~ '^budget(_request)?[.](created|changed)$' and not (action = 'budget.created')
       order by at, action collate "C"`,
      [team.workspace],
    );
    expect(rows).toEqual([
      { action: "budget_request.created", actor_id: team.users.member.id, state: "pending", raised: null },
      { action: "budget.changed", actor_id: team.users.admin.id, state: null, raised: "11" },
      { action: "budget_request.changed", actor_id: team.users.admin.id, state: "approved", raised: null },
    ]);
  });
});
