import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { LimitableProvider } from "@/lib/contract/bills/limit-kinds";
import type { ProviderAccount } from "@/lib/contract/bills/provider-accounts";
import type { LimitTargetList } from "@/lib/contract/bills/provider-limits";
import { limitedBudgets } from "@/tests/helpers/limited-budgets";
import { withProviders } from "@/tests/helpers/with-providers";
import type { Thing } from "@/tests/providers/simulator/limits";

// The providers enforce the limits that they hold. The service writes in the background, and each test waits until that has ended.
const providers = withProviders();
const { harness } = providers;
const { withBudget, atEach, pauses } = limitedBudgets(providers);
const issueOf = ({ status, body }: { status: number; body: Record<string, unknown> }) => {
  const [issue] = (body.issues as { path: string; message: string }[] | undefined) ?? [];
  return `${status} ${issue ? `${issue.path} ${issue.message}` : body.error_description}`;
};
const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);

test("A linked limit has the name that was given with the link until the provider's own name was read", async () => {
  const named = await withBudget("openai");
  const linked = await named.link({ target_name: "Checkout of the shop" });
  expect(linked.body).toMatchObject({ state: "waiting", name: "Checkout of the shop" });
  expect(await named.settled()).toMatchObject({ state: "equal", name: "Checkout" });
  const unnamed = await withBudget("openai");
  expect((await unnamed.link()).body).toMatchObject({ state: "waiting", name: null });
});

describe("A budget's limit at each provider", () => {
  test("is written, raised, lowered and removed there, and the provider refuses calls beyond it", () =>
    atEach(async (provider, team) => {
      const made = await withBudget(provider, { amount: 5 }, team);
      const { linked, settled, edit, held, call, limits } = made;
      const id = await linked();
      expect(await settled()).toMatchObject({
        ...{ state: "equal", problem: null, limit_usd: 5, written_usd: 5, name: made.thing.name },
        held: { limit_usd: 5, period: "month", stops: true },
      });
      expect(held()).toEqual(["5 a month"]);
      expect([call("3"), call("2.01")]).toEqual([true, false]);

      await edit({ raise: { amount: 8, until: tomorrow() } });
      expect(await settled()).toMatchObject({ state: "equal", limit_usd: 8, written_usd: 8 });
      expect([held(), call("5"), call("0.01")]).toEqual([["8 a month"], true, false]);

      // The raise ends by itself: its last day is moved to the past, and what is due then becomes due.
      await harness.fixtures.sql.query(
        "update public.budgets set raised_until = current_date - 2 where id = $1",
        [made.budgetId],
      );
      expect(await settled()).toMatchObject({ state: "equal", limit_usd: 5 });
      await edit({ amount: 3, raise: null });
      expect(await settled()).toMatchObject({ state: "equal", limit_usd: 3 });
      expect(held()).toEqual(["3 a month"]);

      const removed = await made.admin.call("DELETE", `${made.path}/${id}?limit=remove`);
      expect(removed.body).toMatchObject({ state: "removing" });
      await expect.poll(made.read, pauses).toBeUndefined();
      expect([held(), limits.writes]).toEqual([[], 5]);
    }));

  test("that it refuses is shown in its words, and written when it accepts it", () =>
    atEach(async (provider, team) => {
      const made = await withBudget(provider, {}, team);
      made.limits.refusal = "This organization may not set limits by API.";
      await made.linked();
      const refused = await made.settled();
      expect(refused?.state).toBe("refused");
      expect(refused).toMatchObject({ name: made.thing.name, held: { limit_usd: null } });
      expect(refused?.problem).toContain(made.limits.refusal);
      expect(JSON.stringify(refused)).not.toContain(made.organization.key);
      made.limits.refusal = "";
      await made.resolve("write");
      expect(await made.settled()).toMatchObject({ state: "equal", problem: null });
    }));
});

describe("Writing limits at providers", () => {
  test("waits as long as the provider asks, and writes once", async () => {
    const { linked, organization, read, held, limits, accountId, admin, slug } = await withBudget("openai");
    // The first pull of the account's costs would take the refusal.
    const pulled = async () => {
      const { body } = await admin.get(`/api/v1/workspaces/${slug}/provider-accounts`);
      return (body.accounts as ProviderAccount[]).map(
        ({ last_pull_at: at, is_pulling }) => at !== null && !is_pulling,
      );
    };
    await expect.poll(pulled, { ...pauses, timeout: 60_000 }).toEqual([true]);
    Object.assign(organization, { throttled: 1, retryAfter: "3600" });
    await linked();
    await expect.poll(async () => (await read())?.problem, pauses).toContain("429");
    expect(await read()).toMatchObject({ state: "waiting", written_usd: null, is_due: false });
    const { rows } = await harness.fixtures.sql.query(
      "select next_at > now() + interval '59 minutes' as waits from public.provider_limits where account_id = $1",
      [accountId],
    );
    expect(rows).toEqual([{ waits: true }]);
    await harness.fixtures.sql.query(
      "update public.provider_limits set next_at = now() where account_id = $1",
      [accountId],
    );
    await expect.poll(async () => (await read())?.state, pauses).toBe("equal");
    expect([held(), limits.writes]).toEqual([["500 a month"], 1]);
  });

  test.each<[LimitableProvider, Thing, string]>([
    [
      "openrouter",
      { kind: "guardrail", id: "guard_1", name: "Interns" },
      "OpenRouter has no such guardrail.",
    ],
    [
      "github",
      { kind: "repository", id: "acme/web", name: "acme/web" },
      "GitHub has no repository acme/web.",
    ],
  ])(
    "limits further kinds at %s, stops calls there, and removes the limit: %o",
    async (provider, thing, gone) => {
      const team = await withBudget(provider, { amount: 20 }, undefined, thing);
      const { admin, accountId, budgetId, path } = team;
      const { body } = await admin.get(
        `/api/v1/workspaces/${team.slug}/provider-accounts/${accountId}/limit-targets?budget_id=${budgetId}`,
      );
      expect(body.targets).toContainEqual(
        expect.objectContaining({ kind: thing.kind, id: thing.id, is_linked: false }),
      );
      const id = await team.linked();
      expect(await team.settled()).toMatchObject({ state: "equal", limit_usd: 20, held: { limit_usd: 20 } });
      expect(team.held()).toEqual(["20 a month"]);
      expect([team.call("20"), team.call("1")]).toEqual([true, false]);
      await team.edit({ amount: 30 });
      await expect.poll(team.held).toEqual(["30 a month"]);
      await team.settled();
      await admin.call("DELETE", `${path}/${id}?limit=remove`);
      await expect.poll(team.held).toEqual([]);
      const again = await team.linked();
      await team.settled();
      team.limits.things = [];
      await team.resolve("check");
      expect(await team.settled()).toMatchObject({ id: again, state: "gone", problem: gone });
    },
  );

  test("says that the provider no longer has what is limited", async () => {
    const { linked, settled, resolve, limits, read, admin, path } = await withBudget("openrouter");
    const id = await linked();
    await settled();
    limits.things = [];
    await resolve("check");
    expect(await settled()).toMatchObject({ state: "gone", problem: "OpenRouter has no such key." });
    await admin.call("DELETE", `${path}/${id}?limit=remove`);
    await expect.poll(read, pauses).toBeUndefined();
  });

  test("leaves or removes the limit of a deleted budget as was chosen, and writes it again if that is undone", async () => {
    for (const removes of [true, false]) {
      const team = await withBudget("openrouter");
      const { admin, linked, settled, held, read, budgetId } = team;
      await linked({ removes_limit: removes });
      await settled();
      const budget = `/api/v1/workspaces/${team.slug}/budgets/${budgetId}`;
      await admin.call("DELETE", budget);
      await expect.poll(read, pauses).toBeUndefined();
      expect(held()).toEqual(removes ? [] : ["500 a month"]);
      expect((await admin.call("POST", `${budget}/restore`)).status).toBe(200);
      expect(await settled()).toMatchObject({ state: "equal", budget: { id: budgetId } });
      expect(held()).toEqual(["500 a month"]);
    }
  });

  test("cuts off what is less than the provider's unit, and never writes 0", async () => {
    const team = await withBudget("cursor", { amount: 10.99 });
    await team.linked();
    expect(await team.settled()).toMatchObject({ state: "equal", limit_usd: 10 });
    expect(team.held()).toEqual(["10 a month"]);
    await team.edit({ amount: 0.5 });
    const refused = await team.settled();
    expect(refused).toMatchObject({ state: "refused", problem: expect.stringContaining("one dollar") });
    expect(team.held()).toEqual(["10 a month"]);
    const other = await withBudget("github", { amount: 0.99 });
    expect(issueOf(await other.link())).toContain("400 budget_id must have a limit of at least one dollar");
  });

  test("writes days and weeks where the provider has them, and refuses other periods", async () => {
    for (const period of ["day", "week"]) {
      const team = await withBudget("openrouter", { period, amount: 1.005 });
      await team.linked();
      expect(await team.settled()).toMatchObject({ state: "equal" });
      expect(team.held()).toEqual([`1 a ${period}`]);
    }
    const weekly = await withBudget("openai", { period: "week" });
    expect(issueOf(await weekly.link())).toBe(
      "400 budget_id must be a budget per month: OpenAI limits a project by no other period",
    );
    const yearly = await withBudget("openai", { period: "year" });
    expect(issueOf(await yearly.link())).toContain("Providers limit days, weeks and months, not a year");
    const sunday = await withBudget("openrouter", { period: "week", week_starts_on: "sunday" });
    expect(issueOf(await sunday.link())).toContain("must have weeks that begin on Monday");
  });

  test("refuses kinds that the provider lacks, other providers' budgets, and a second budget", async () => {
    const team = await withBudget("openai");
    expect(issueOf(await team.link({ kind: "key" }))).toBe(
      "400 kind must be one of those that OpenAI limits: project, organization",
    );
    expect(issueOf(await team.link({ target_id: ".." }))).toBe("400 target_id must be an id");
    expect(issueOf(await team.link({ target_name: "a\u0007" }))).toBe(
      "400 target_name must not contain control characters",
    );
    expect(issueOf(await team.link({ account_id: randomUUID() }))).toContain("400 account_id");
    expect(issueOf(await team.link({ budget_id: randomUUID() }))).toContain("400 budget_id");
    await team.linked();
    expect(issueOf(await team.link())).toContain("409 A budget of this period limits it already");
    const ofAnthropic = { scope_type: "provider", scope_value: "anthropic", allow_unknown_scope: true };
    const other = await withBudget("openai", ofAnthropic);
    expect(issueOf(await other.link())).toContain("400 account_id must be an account of anthropic");
  });

  test("records who asked for each change, and shows a viewer the state without the provider's ids", async () => {
    const team = await withBudget("openai");
    await team.linked();
    await team.settled();
    await team.users.owner.call("PATCH", `/api/v1/workspaces/${team.slug}/budgets/${team.budgetId}`, {
      amount: 600,
    });
    await team.settled();
    const { rows } = await harness.fixtures.sql.query(
      `select action, actor_email, after ->> 'written_usd' as written from public.audit_log
       where workspace_id = $1 and subject like 'provider_limit %' order by at`,
      [team.workspace],
    );
    expect(rows).toEqual([
      { action: "provider_limit.created", actor_email: team.admin.email, written: null },
      { action: "provider_limit.written", actor_email: team.admin.email, written: "500" },
      { action: "provider_limit.written", actor_email: team.users.owner.email, written: "600" },
    ]);
    const seen = await team.read("viewer");
    expect(seen).toMatchObject({ state: "equal", name: "Checkout", limit_usd: 600 });
    expect(JSON.stringify(seen)).not.toContain(team.thing.id);
  });

  test("lists what can be limited, the one with the budget's name first", async () => {
    const team = await withBudget("openai");
    team.limits.things = [
      { kind: "project", id: "proj_a", name: "Another" },
      { kind: "project", id: "proj_checkout", name: "Checkout" },
    ];
    const targets = async () =>
      (
        await team.admin.get(
          `/api/v1/workspaces/${team.slug}/provider-accounts/${team.accountId}/limit-targets?budget_id=${team.budgetId}`,
        )
      ).body as unknown as LimitTargetList;
    await team.linked();
    expect((await targets()).targets).toMatchObject([
      { id: "proj_checkout", is_proposed: true, is_linked: true },
      { id: "proj_a", is_proposed: false, is_linked: false },
      { kind: "organization" },
    ]);
    team.organization.refusal = "Incorrect API key provided: {key}";
    const refused = await targets();
    expect(refused).toMatchObject({ targets: [], problem: expect.stringContaining("Incorrect API key") });
    expect(JSON.stringify(refused)).not.toContain(team.organization.key);
  });

  test("ends with the account: the limit stays at the provider", async () => {
    const team = await withBudget("openrouter");
    await team.linked();
    await team.settled();
    await team.admin.call("DELETE", `/api/v1/workspaces/${team.slug}/provider-accounts/${team.accountId}`);
    expect(await team.read()).toBeUndefined();
    expect(team.held()).toEqual(["500 a month"]);
  });
});
