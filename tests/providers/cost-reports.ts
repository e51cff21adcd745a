import Anthropic from "@anthropic-ai/sdk";
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
