import type { Page } from "@playwright/test";
import { exactText } from "@/components/figures/amount";
import type { SpendAnswer, SpendQueryInput } from "@/lib/contract/spend/spend-query";
import type { ExactNumber } from "@/lib/contract/values/exact-number";
import { parseJson } from "@/lib/http/json";
import { apiClient } from "@/tests/helpers/client";
import { type Account, signUp, workspaceId } from "./accounts";
import { expect, type World } from "./fixtures";

const dayMs = 24 * 60 * 60 * 1000;

/** A day in UTC, as YYYY-MM-DD. @param now in ms */
export const dayBefore = (now: number, days: number) =>
  new Date(now - days * dayMs).toISOString().slice(0, 10);

const workloads = [
  { project: "checkout", model: "gpt-4o", feature: "chat" },
  { project: "search", model: "claude-sonnet-4-5", feature: "answers" },
  { project: "research", model: "gpt-4o-mini", feature: undefined },
];

/** A client with a new key of a workspace. */
export async function clientOf(world: World, slug: string) {
  const { secret } = await world.fixtures.key(await workspaceId(world, slug));
  return apiClient(world.service.baseUrl, secret);
}

/**
 * Records two months of all kinds of cost in a workspace, some of it just now. @returns the time of recording, in ms
 */
export async function recordSpend(world: World, slug: string): Promise<number> {
  const client = await clientOf(world, slug);
  const now = Date.now();
  const messages: unknown[] = [];
  for (let daysAgo = 0; daysAgo < 45; daysAgo += 1) {
    const { project, ...usage } = workloads[daysAgo % workloads.length] as (typeof workloads)[number];
    const occurredAt = new Date(now - daysAgo * dayMs).toISOString();
    messages.push({
      project,
      source: "api",
      message: {
        type: "usage",
        provider: "openai",
        unit_type: "input_tokens",
        quantity: 1000 + daysAgo,
        estimated_cost: Number(`${1 + daysAgo}.0${daysAgo}`),
        occurred_at: occurredAt,
        ...usage,
      },
    });
  }
  const rest = [
    { type: "expense", vendor: "Hetzner", amount: 20.5 },
    { type: "subscription", vendor: "GitHub", amount: 21 },
    { type: "usage", provider: "in-house", model: "ranker-7b", unit_type: "input_tokens", quantity: 500 },
  ];
  messages.push(...rest.map((message) => ({ project: "research", source: "api", message })));
  const answer = await client.post({ messages }, {}, "/batch");
  expect(answer.status).toBe(207);
  return now;
}

/** Records usage of one amount (USD) for each of the last 35 days: what `recordSpend` records falls to nothing. */
export async function recordDailyUsage(world: World, slug: string, usd: string): Promise<void> {
  const client = await clientOf(world, slug);
  const messages = Array.from({ length: 35 }, (_, daysAgo) => ({
    project: "checkout",
    source: "api",
    message: {
      type: "usage",
      provider: "openai",
      unit_type: "requests",
      quantity: 1,
      estimated_cost: Number(usd),
      occurred_at: new Date(Date.now() - daysAgo * dayMs).toISOString(),
    },
  }));
  expect((await client.post({ messages }, {}, "/batch")).status).toBe(207);
}

/** Signs a new user up and records two months of cost in their workspace. `now`: the time of recording, in ms. */
export async function signUpWithSpend(
  page: Pick<Page, "request">,
  world: World,
): Promise<Account & { now: number }> {
  const account = await signUp(page);
  return { ...account, now: await recordSpend(world, account.slug) };
}

/** Records expenses of days before now. */
export async function recordCosts(
  world: World,
  slug: string,
  costs: { project: string; daysAgo: number; cost: number }[],
): Promise<void> {
  const client = await clientOf(world, slug);
  const messages = costs.map(({ project, daysAgo, cost }) => ({
    project,
    source: "api",
    message: {
      type: "expense",
      vendor: "Hetzner",
      amount: cost,
      occurred_at: new Date(Date.now() - daysAgo * dayMs).toISOString(),
    },
  }));
  expect((await client.post({ messages }, {}, "/batch")).status).toBe(207);
}

/** An answer of the API to the page's own session, with all digits. */
export async function readApi<Answer>(page: Pick<Page, "request">, path: string): Promise<Answer> {
  const response = await page.request.get(path);
  expect(response.status()).toBe(200);
  return parseJson(await response.text()) as Answer;
}

/** The origin of the service, also where the page has opened nothing yet. */
export const originOf = async (page: Pick<Page, "request">) =>
  new URL((await page.request.get("/api/health")).url()).origin;

/** The answer of the API to a query of Explore, asked by the page's own session. */
export async function querySpend(
  page: Pick<Page, "request">,
  slug: string,
  query: SpendQueryInput,
): Promise<SpendAnswer> {
  const answer = await page.request.post(`/api/v1/workspaces/${slug}/spend/query`, {
    data: query,
    headers: { origin: await originOf(page) },
  });
  expect(answer.status()).toBe(200);
  return parseJson(await answer.text()) as SpendAnswer;
}

/** The exact digits of a figure of such an answer. */
export const exact = (figure: SpendAnswer["totals"]["measured"] | undefined) => exactText(figure ?? 0);

/** Unfolds all folded parts of the page, whose content is rendered only then. */
export async function unfoldAll(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const folded = [...document.querySelectorAll("details")];
    for (const details of folded) details.open = true;
    return folded.every(({ childElementCount }) => childElementCount > 1);
  });
}

/** The exact digits that the page shows at present under a figure's name, in the page's order. */
export async function figuresOf(page: Page, name: string): Promise<string[]> {
  await unfoldAll(page);
  return page
    .locator(`[data-figure="${name}"]`)
    .evaluateAll((elements) => elements.map((element) => element.getAttribute("data-exact") ?? ""));
}

/** Waits until the page shows these digits under a figure's name, in this order. */
export async function expectDigits(page: Page, name: string, digits: string[], about = name): Promise<void> {
  await expect.poll(() => figuresOf(page, name), about).toEqual(digits);
}

/** The exact digits of amounts, in the format of `figuresOf`. */
export const digitsOf = (amounts: (number | ExactNumber)[]): string[] => amounts.map(exactText);
