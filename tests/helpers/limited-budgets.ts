import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { type LimitableProvider, limitingProviders } from "@/lib/contract/bills/limit-kinds";
import type { ProviderLimit } from "@/lib/contract/bills/provider-limits";
import type { Thing } from "@/tests/providers/simulator/limits";
import { judgeKeyRules } from "./alerts";
import { makeTeam, type Team } from "./team";
import type { WithProviders } from "./with-providers";

/** What is written is read with pauses, because each read takes the processor from the service that writes. */
const pauses = { interval: 200 };

const things: Record<LimitableProvider, Thing> = {
  openai: { kind: "project", id: "proj_checkout", name: "Checkout" },
  anthropic: { kind: "workspace", id: "wrkspc_checkout", name: "Checkout" },
  openrouter: { kind: "key", id: "hash_checkout", name: "checkout" },
  github: { kind: "member", id: "ada", name: "ada" },
  cursor: { kind: "member", id: "ada@example.com", name: "ada@example.com" },
};

/** What tests do with budgets whose limits are written at simulated providers. */
export function limitedBudgets(providers: WithProviders) {
  /** A budget, and an account at a provider with something that can be limited. */
  async function withBudget(
    provider: LimitableProvider,
    budget: object = {},
    of?: Team,
    thing = things[provider],
  ) {
    const team = of ?? (await makeTeam(providers.harness));
    const { admin } = team.users;
    const secret = `sk-admin-${randomUUID()}`;
    const organization = providers.simulator.add(secret, []);
    organization.limits.things = [thing];
    organization.seats = [{ email: "ada@example.com", lastUsed: null }];
    const account = provider === "github" ? "acme" : "";
    const added = await admin.call("POST", `${team.path}/provider-accounts`, {
      provider,
      key: secret,
      account,
    });
    expect(added.status, JSON.stringify(added.body)).toBe(201);
    const made = await admin.call("POST", `${team.path}/budgets`, {
      ...{ name: "Checkout", scope_type: "global", amount: 500 },
      ...budget,
    });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    const [budgetId, accountId] = [String(made.body.id), String(added.body.id)];
    const path = `${team.path}/provider-limits`;
    const read = async (who: "admin" | "viewer" = "admin") =>
      ((await team.users[who].get(path)).body.limits as ProviderLimit[]).find(
        (limit) => limit.account.id === accountId,
      );
    const link = (more: object = {}) =>
      admin.call("POST", path, {
        ...{ budget_id: budgetId, account_id: accountId, kind: thing.kind, target_id: thing.id },
        ...more,
      });
    return {
      ...{
        ...team,
        admin,
        organization,
        limits: organization.limits,
        thing,
        accountId,
        budgetId,
        path,
        read,
        link,
      },
      /** Waits until nothing is written or read. */
      settled: async () => {
        await expect
          .poll(async () => (await read())?.is_due ?? false, { ...pauses, timeout: 10_000 })
          .toBe(false);
        return read();
      },
      linked: async (more: object = {}) => {
        const answer = await link(more);
        expect(answer.status, JSON.stringify(answer.body)).toBe(201);
        return String(answer.body.id);
      },
      edit: (changes: object) => admin.call("PATCH", `${team.path}/budgets/${budgetId}`, changes),
      resolve: async (action: string) =>
        admin.call("POST", `${path}/${(await read())?.id}/resolve`, { action }),
      /** The alerts of the budget, after the rules were judged. */
      alerts: async () => {
        await judgeKeyRules(providers.harness.fixtures);
        const { rows } = await providers.harness.fixtures.sql.query(
          "select rule || ' ' || state as alert from public.alerts where workspace_id = $1 and subject_id = $2 order by number",
          [team.workspace, budgetId],
        );
        return rows.map(({ alert }) => alert);
      },
      held: () => organization.limits.held.map(({ usd, period }) => `${usd} a ${period}`),
      call: (usd: string) => organization.limits.call(thing, usd),
    };
  }
  /** Runs a test with all providers at once, in one workspace. */
  async function atEach(run: (provider: LimitableProvider, team: Team) => Promise<void>): Promise<void> {
    const team = await makeTeam(providers.harness);
    await Promise.all(
      Object.keys(limitingProviders).map((provider) => run(provider as LimitableProvider, team)),
    );
  }
  return { withBudget, atEach, pauses };
}
