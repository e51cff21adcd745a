/** What each generated client does in its own words: it records a cost and reads the month. */
export type RecordCost = (
  service: { url: string; key: string },
  idempotencyKey: string,
) => Promise<{ id: string; amount_usd: number; cost_status: string; total_usd: number }>;

/** The cost that each of them records. */
export const cost = {
  project: "checkout",
  source: "api",
  message: {
    type: "usage",
    provider: "openai",
    model: "gpt-4o",
    unit_type: "output_tokens",
    quantity: 18_250,
  },
} as const;
