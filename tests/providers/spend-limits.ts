import Anthropic from "@anthropic-ai/sdk";
import { Octokit } from "@octokit/rest";
import { OpenRouter } from "@openrouter/sdk";
import OpenAI from "openai";

/** What a provider's SDK reads of a limit that it has set, and of the list with what is limited; then it removes the limit. */
export type SetLimit = { listed: unknown[]; set: unknown; read: unknown; removed: unknown };

/** OpenAI's SDK with the limit of a project, in whole cents. */
export async function openaiLimit(baseUrl: string, adminKey: string, id: string): Promise<SetLimit> {
  const baseURL = `${baseUrl}/v1`;
  const client = new OpenAI({ apiKey: "unused", adminAPIKey: adminKey, baseURL, maxRetries: 0 });
  const { projects, spendLimit } = client.admin.organization;
  const listed: unknown[] = [];
  for await (const project of projects.list()) listed.push(project.name);
  const monthly = { currency: "USD", interval: "month", threshold_amount: 1050 } as const;
  const set = await projects.spendLimit.update(id, monthly);
  const read = await projects.spendLimit.retrieve(id);
  await spendLimit.update(monthly);
  await spendLimit.retrieve();
  await spendLimit.delete();
  const removed = await projects.spendLimit.delete(id);
  return { listed, set: set.threshold_amount, read: read.threshold_amount, removed: removed.deleted };
}

/** Anthropic's SDK with the limit of a workspace, as text of whole cents. */
export async function anthropicLimit(baseUrl: string, adminKey: string, id: string): Promise<SetLimit> {
  const client = new Anthropic({ apiKey: adminKey, baseURL: baseUrl, maxRetries: 0 });
  const { spendLimits, workspaces } = client.beta.organization;
  const listed: unknown[] = [];
  for await (const workspace of workspaces.list()) listed.push(workspace.name);
  const scope = { type: "workspace", workspace_id: id } as const;
  const set = await spendLimits.set({ amount: "1050", scope, period: "monthly" });
  let read: string | null = null;
  for await (const limit of spendLimits.list({ scope_type: ["workspace"], workspace_id: id }))
    read = limit.amount;
  const removed = await spendLimits.delete(set.id);
  return { listed, set: set.amount, read, removed: removed.type };
}

/** OpenRouter's SDK with the limit of a key, in dollars, and the budget of a workspace. */
export async function openrouterLimit(
  baseUrl: string,
  managementKey: string,
  hash: string,
  workspaceRef: string,
): Promise<SetLimit> {
  const client = new OpenRouter({
    ...{ apiKey: managementKey, serverURL: `${baseUrl}/api/v1` },
    retryConfig: { strategy: "none" },
  });
  const { data: keys } = await client.apiKeys.list();
  const requestBody = { limit: 10.5, limitReset: "monthly" } as const;
  const { data: set } = await client.apiKeys.update({ hash, requestBody });
  const { data: read } = await client.apiKeys.get({ hash });
  const budget = { workspaceRef, interval: "monthly" } as const;
  await client.workspaces.setBudget({ ...budget, upsertWorkspaceBudgetRequest: { limitUsd: 10.5 } });
  const { data: budgets } = await client.workspaces.listBudgets({ workspaceRef });
  const { deleted: removed } = await client.workspaces.deleteBudget(budget);
  return {
    listed: [...keys.map(({ name }) => name), ...budgets.map(({ limitUsd }) => limitUsd)],
    set: set.limit,
    read: read.limit,
    removed,
  };
}

/** OpenRouter's SDK with the limit of a guardrail, in dollars. */
export async function openrouterGuardrail(
  baseUrl: string,
  managementKey: string,
  id: string,
): Promise<SetLimit> {
  const client = new OpenRouter({
    ...{ apiKey: managementKey, serverURL: `${baseUrl}/api/v1` },
    retryConfig: { strategy: "none" },
  });
  const listed: unknown[] = [];
  for await (const page of await client.guardrails.list())
    listed.push(...page.result.data.map(({ name }) => name));
  const monthly = { limitUsd: 10.5, resetInterval: "monthly" } as const;
  const { data: set } = await client.guardrails.update({ id, updateGuardrailRequest: monthly });
  const { data: read } = await client.guardrails.get({ id });
  const none = { limitUsd: null, resetInterval: null };
  const { data: removed } = await client.guardrails.update({ id, updateGuardrailRequest: none });
  return {
    listed,
    set: set.limitUsd,
    read: `${read.limitUsd} ${read.resetInterval}`,
    removed: removed.limitUsd,
  };
}

/** The SDK prints refusals otherwise. */
const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** GitHub's SDK with the budget of a member, in whole dollars. */
export async function githubLimit(
  baseUrl: string,
  token: string,
  org: string,
  user: string,
): Promise<SetLimit> {
  const octokit = new Octokit({ baseUrl, auth: token, log: silent });
  const budgets = "/organizations/{org}/settings/billing/budgets";
  const { data: made } = await octokit.request(`POST ${budgets}`, {
    ...{ org, user, budget_amount: 10, prevent_further_usage: true, budget_scope: "user" as const },
    ...{ budget_type: "BundlePricing", budget_product_sku: "ai_credits" },
  });
  const { data: all } = await octokit.request(`GET ${budgets}`, { org, scope: "user" });
  const of = { org, budget_id: String(made.budget.id) };
  const { data: changed } = await octokit.request(`PATCH ${budgets}/{budget_id}`, {
    ...of,
    budget_amount: 12,
  });
  const { data: removed } = await octokit.request(`DELETE ${budgets}/{budget_id}`, of);
  const { data: ofRepository } = await octokit.request(`POST ${budgets}`, {
    ...{ org, budget_amount: 7, prevent_further_usage: true, budget_scope: "repository" as const },
    ...{ budget_entity_name: `${org}/web`, budget_type: "BundlePricing", budget_product_sku: "ai_credits" },
  });
  const { data: ofRepositories } = await octokit.request(`GET ${budgets}`, { org, scope: "repository" });
  await octokit.request(`DELETE ${budgets}/{budget_id}`, { org, budget_id: String(ofRepository.budget.id) });
  return {
    listed: [
      ...all.budgets.map(({ user: login }: { user?: string }) => login),
      ...ofRepositories.budgets.map(({ budget_entity_name: name }: { budget_entity_name?: string }) => name),
    ],
    ...{
      set: made.budget.budget_amount,
      read: changed.budget.budget_amount,
      removed: removed.id === made.budget.id,
    },
  };
}
