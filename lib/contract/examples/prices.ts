import type { ExampleSet } from "./example-set";

const price = {
  id: "0193a1b4-6b0e-7f51-9d3c-0a7be1c4d2f8",
  provider: "in-house",
  model: "ranker-7b",
  unit_type: "input_tokens",
  rate: 0.00000004,
  starts_at: "2026-11-01T00:00:00.000+00:00",
  created_at: "2026-11-21T09:31:02.511+00:00",
};

const repricing = {
  id: "0193a1b4-6b11-7a20-8c7e-5d1f90b3e6a4",
  provider: "in-house",
  from: "2026-11-01T00:00:00.000+00:00",
  to: null,
  includes_priced: false,
  status: "running",
  examined_count: 500,
  changed_count: 500,
  change_usd: 36.12,
  created_at: "2026-11-21T09:31:02.511+00:00",
  finished_at: null,
};

const disputed = {
  provider: "together",
  model: "meta-llama/Llama-3.3-70B-Instruct-Turbo",
  unit_type: "input_tokens",
  last_used_on: "2026-11-21",
  applied: {
    source: "genai-prices 0.1.8",
    model: "meta-llama/Llama-3.3-70B-Instruct-Turbo",
    rate: 0.00000088,
  },
  other: {
    source: "litellm 1.109.1",
    model: "meta-llama/llama-3.3-70b-instruct-turbo",
    rate: 0.00000104,
  },
};

export const priceExamples: ExampleSet = {
  requests: {
    SetPriceRequest: {
      model: {
        summary: "A model of your own",
        value: {
          provider: "in-house",
          model: "ranker-7b",
          unit_type: "input_tokens",
          rate: 0.00000004,
          starts_at: "2026-11-01T00:00:00Z",
        },
      },
      range: {
        summary: "A negotiated price, from the start of the quarter on",
        value: {
          provider: "openai",
          model: "gpt-4o",
          unit_type: "input_tokens",
          rate: 0.000002,
          starts_at: "2026-10-01T00:00:00Z",
          reprice: { from: "2026-10-01T00:00:00Z" },
        },
      },
    },
  },
  responses: {
    PriceList: { prices: [price], disputed: [disputed], repricings: [repricing], closed_until: null },
    SetPriceResult: { price, repricings: [repricing] },
    UnpricedList: {
      unpriced: [
        {
          provider: "in-house",
          model: "ranker-7b",
          unit_type: "input_tokens",
          line_count: 61,
          quantity: 109_800_000,
          first_occurred_at: "2026-11-01T08:12:44.120+00:00",
          last_occurred_at: "2026-11-21T09:02:10.006+00:00",
        },
      ],
    },
  },
};
