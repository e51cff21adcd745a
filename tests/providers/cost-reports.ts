import Anthropic from "@anthropic-ai/sdk";
import { Octokit } from "@octokit/rest";
import { OpenRouter } from "@openrouter/sdk";
import OpenAI from "openai";

/** What a provider's SDK reads of its own cost report: a day, and the amount as it is written there. */
export type ReadCost = { day: string; amount: number | string };

/** Reads OpenAI's costs from a day to before another, page by page. */
export async function openaiCosts(
  baseUrl: string,
  adminKey: string,
  from: string,
  until: string,
): Promise<ReadCost[]> {
  const client = new OpenAI({
    apiKey: "unused",
    adminAPIKey: adminKey,
    baseURL: `${baseUrl}/v1`,
    maxRetries: 0,
  });
  const seconds = (day: string) => Date.parse(day) / 1000;
  const read: ReadCost[] = [];
  let page: string | null = null;
  do {
    const answer = await client.admin.organization.usage.costs({
      ...{ start_time: seconds(from), end_time: seconds(until), bucket_width: "1d", limit: 3 },
      group_by: ["line_item", "api_key_id"],
      ...(page !== null && { page }),
    });
    for (const { start_time: start, results } of answer.data)
      for (const result of results)
        if (result.object === "organization.costs.result")
          read.push({
            day: new Date(start * 1000).toISOString().slice(0, 10),
            amount: result.amount?.value ?? "none",
          });
    page = answer.has_more ? answer.next_page : null;
  } while (page !== null);
  return read;
}

/** Reads Anthropic's costs from a day to before another; its SDK reads the pages. */
export async function anthropicCosts(
  baseUrl: string,
  adminKey: string,
  from: string,
  until: string,
): Promise<ReadCost[]> {
  const client = new Anthropic({ apiKey: adminKey, baseURL: baseUrl, maxRetries: 0 });
  const read: ReadCost[] = [];
  for await (const { starting_at: start, cost } of client.beta.organization.analytics.cost.list({
    ...{ starting_at: `${from}T00:00:00Z`, ending_at: `${until}T00:00:00Z`, time_bucket_width: "1d" },
    ...{ order_by: "time", limit: 3, group_by: ["model", "cost_type", "token_type"] },
  }))
    read.push({ day: start.slice(0, 10), amount: cost.amount });
  return read;
}

/** Reads Anthropic's uncached input tokens from a day to before another. */
export async function anthropicInput(
  baseUrl: string,
  adminKey: string,
  from: string,
  until: string,
): Promise<ReadCost[]> {
  const client = new Anthropic({ apiKey: adminKey, baseURL: baseUrl, maxRetries: 0 });
  const read: ReadCost[] = [];
  for await (const { starting_at: start, usage } of client.beta.organization.analytics.usage.list({
    ...{ starting_at: `${from}T00:00:00Z`, ending_at: `${until}T00:00:00Z`, time_bucket_width: "1d" },
    ...{ order_by: "time", limit: 3, group_by: ["model", "service_tier", "api_key_id"] },
  }))
    read.push({ day: start.slice(0, 10), amount: usage.uncached_input_tokens });
  return read;
}

/** Reads OpenRouter's activity, which has the last thirty days. */
export async function openrouterActivity(baseUrl: string, managementKey: string): Promise<ReadCost[]> {
  const client = new OpenRouter({ apiKey: managementKey, serverURL: `${baseUrl}/api/v1` });
  const { data } = await client.analytics.getUserActivity({}, { retries: { strategy: "none" } });
  return data.map(({ date, usage }) => ({ day: date, amount: usage }));
}

/** The SDK prints refusals otherwise. */
const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** Reads GitHub's reports of a day: by model, and that of all products; and how many seats its pages have. */
export async function githubUsage(baseUrl: string, token: string, org: string, on: string) {
  const octokit = new Octokit({ baseUrl, auth: token, log: silent });
  const [year = 0, month = 0, day = 0] = on.split("-").map(Number);
  const query = { org, year, month, day };
  const read = async (report: "ai_credit/usage" | "premium_request/usage" | "usage") => {
    const { data } = await octokit.request(`GET /organizations/{org}/settings/billing/${report}`, query);
    return data.usageItems as { sku: string; netAmount: number; grossAmount: number }[];
  };
  return {
    credits: await read("ai_credit/usage"),
    requests: await read("premium_request/usage"),
    all: await read("usage"),
    seats: await countSeats(octokit, org),
  };
}

async function countSeats(octokit: Octokit, org: string): Promise<number> {
  let count = 0;
  for (let page = 1; ; page += 1) {
    const { data } = await octokit.rest.copilot.listCopilotSeats({ org, page, per_page: 100 });
    count += data.seats?.length ?? 0;
    if ((data.seats?.length ?? 0) < 100) return count;
  }
}
