import type { ExampleSet } from "./example-set";

const recommendation = {
  id: "0193a0f7-1e44-7c02-a6d3-90b1f8e2d421",
  kind: "batch_tier",
  state: "accepted",
  title: "Use the batch tier for nightly-tags with gpt-4.1 in Checkout",
  method:
    "If these 4,120 records may wait up to 24 hours: the recorded amounts at the standard tier, less the same quantities at today's list prices of the batch tier. Only records that name neither a session nor a person count, because somebody may wait for the others. Usage at a price of your own, or at one that is not today's list price, keeps its recorded amount.",
  saving_usd: 61.8,
  recorded_usd: 123.6,
  repriced_usd: 61.8,
  records: 4120,
  from: "2026-10-23",
  to: "2026-11-21",
  computed_at: "2026-11-22T00:05:12.480Z",
  project: { slug: "checkout", name: "Checkout" },
  provider: "openai",
  model: "gpt-4.1",
  feature: "nightly-tags",
  target: "batch",
  prices: null,
  activity_query:
    "period=range&from=2026-10-23&to=2026-11-21&environment=live&type=usage&project=checkout&provider=openai&model=gpt-4.1&feature=nightly-tags&cost_status=priced&standing=true&tier=standard&session=&user=",
  decision: {
    by: { id: "0193a0f7-1e44-7c02-a6d3-90b1f8e2d418", name: "Aiko" },
    at: "2026-11-22T09:30:00.000Z",
    reason: null,
    until: null,
  },
  saved: null,
};

const caching = {
  ...recommendation,
  id: "0193a0f7-1e44-7c02-a6d3-90b1f8e2d422",
  kind: "prompt_caching",
  state: "open",
  title: "Use prompt caching for answer-tickets with claude-sonnet-4-5 in Checkout",
  method:
    "If the first 3,072 tokens of these 18,400 calls are the same: in each span of 5 minutes with calls, one pays for them at the price of a cache write (2,310 of the calls), and the others pay that of cached input, by today's list prices. What the prompts have in common is not recorded; 3,072 tokens is the most that all can share, by the smallest input of any of them. Calls that begin before the first of a span was answered cannot read what it writes. Only calls with a long prompt count that were recorded with all their input tokens and without any from a cache. Usage at a price of your own, or at one that is not today's list price, keeps its recorded amount.",
  saving_usd: 128.134656,
  recorded_usd: 512.4,
  repriced_usd: 384.265344,
  records: 19140,
  provider: "anthropic",
  model: "claude-sonnet-4-5",
  feature: "answer-tickets",
  target: "5m",
  activity_query:
    "period=range&from=2026-10-23&to=2026-11-21&environment=live&type=usage&project=checkout&provider=anthropic&model=claude-sonnet-4-5&feature=answer-tickets&cost_status=priced&standing=true",
  decision: null,
};

const disputed = {
  ...caching,
  id: "0193a0f7-1e44-7c02-a6d3-90b1f8e2d423",
  kind: "disputed_price",
  title: "Settle the price of meta-llama/Llama-3.3-70B-Instruct-Turbo of together",
  method:
    "The recorded amounts of 2,310 records at the standard tier, less the same with each quantity that was recorded at the price in use at that of litellm instead. A quantity at any other price keeps its recorded amount. To accept sets the prices of litellm as your own from the first day of this month (UTC) on: for every tier and length of request, and for what was recorded since then.",
  saving_usd: -12.4,
  recorded_usd: 68.2,
  repriced_usd: 80.6,
  records: 2310,
  project: null,
  provider: "together",
  model: "meta-llama/Llama-3.3-70B-Instruct-Turbo",
  feature: null,
  target: "litellm",
  prices: [
    {
      unit_type: "input_tokens",
      applied: { source: "genai-prices", rate: 0.00000088 },
      other: { source: "litellm", rate: 0.00000104 },
    },
  ],
  activity_query:
    "period=range&from=2026-10-23&to=2026-11-21&environment=live&type=usage&provider=together&model=meta-llama%2FLlama-3.3-70B-Instruct-Turbo&cost_status=priced&standing=true&tier=standard",
};

export const recommendationExamples: ExampleSet = {
  requests: {
    DecideRecommendation: {
      accept: { summary: "Accept it", value: { decision: "accept" } },
      decline: {
        summary: "Decline it",
        value: { decision: "decline", reason: "Customers wait for the tags." },
      },
      later: { summary: "Show it again in December", value: { decision: "later", until: "2026-11-30" } },
    },
  },
  responses: {
    Recommendation: recommendation,
    RecommendationList: {
      computed_at: recommendation.computed_at,
      next_at: "2026-11-29T00:05:12.480Z",
      open_usd: caching.saving_usd,
      recommendations: [caching, disputed, recommendation],
      can_decide: true,
    },
  },
};
